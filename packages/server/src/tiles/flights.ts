/** Equal questions at the same time are asked once. Whoever leaves does so alone; with the last one the work ends. */
export type Flights<T> = {
  join(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T>
}

type Flight<T> = { readonly result: Promise<T>; readonly end: AbortController; passengers: number }

export function createFlights<T>(): Flights<T> {
  const flights = new Map<string, Flight<T>>()

  function start(key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const end = new AbortController()
    const result = work(end.signal)
    const flight = { result, end, passengers: 0 }
    flights.set(key, flight)
    const land = (): void => {
      if (flights.get(key) === flight) flights.delete(key)
    }
    result.then(land, land)
    return flight
  }

  return {
    async join(key, signal, work) {
      signal.throwIfAborted()
      const flight = flights.get(key) ?? start(key, work)
      flight.passengers++
      let leave = (): void => {}
      const left = new Promise<never>((_, reject) => {
        leave = () => reject(signal.reason)
        signal.addEventListener('abort', leave, { once: true })
      })
      try {
        return await Promise.race([flight.result, left])
      } finally {
        signal.removeEventListener('abort', leave)
        flight.passengers--
        if (flight.passengers === 0 && flights.get(key) === flight) {
          flights.delete(key)
          flight.end.abort(signal.reason)
        }
      }
    },
  }
}
