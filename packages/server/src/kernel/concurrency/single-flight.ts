/** Single-flight: equal requests at the same time share one piece of work. It is aborted when the last of them has left. */
export type SingleFlight<T> = {
  join(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T>
}

type Flight<T> = { readonly result: Promise<T>; readonly end: AbortController; waiting: number }

export function createSingleFlight<T>(): SingleFlight<T> {
  const flights = new Map<string, Flight<T>>()

  function start(key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const end = new AbortController()
    const result = work(end.signal)
    const flight = { result, end, waiting: 0 }
    flights.set(key, flight)
    const settle = (): void => {
      if (flights.get(key) === flight) flights.delete(key)
    }
    result.then(settle, settle)
    return flight
  }

  return {
    async join(key, signal, work) {
      signal.throwIfAborted()
      const flight = flights.get(key) ?? start(key, work)
      flight.waiting++
      let leave = (): void => {}
      const left = new Promise<never>((_, reject) => {
        leave = () => reject(signal.reason)
        signal.addEventListener('abort', leave, { once: true })
      })
      try {
        return await Promise.race([flight.result, left])
      } finally {
        signal.removeEventListener('abort', leave)
        flight.waiting--
        if (flight.waiting === 0 && flights.get(key) === flight) {
          flights.delete(key)
          flight.end.abort(signal.reason)
        }
      }
    },
  }
}
