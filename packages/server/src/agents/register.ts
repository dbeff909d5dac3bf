/** What is under way, by its id. */
export type Register<T> = {
  readonly size: number
  get(id: string): T | undefined
  set(id: string, value: T): void
  delete(id: string): void
  values(): T[]
}

/**
 * For what comes and goes all the time. A Map alone would do, but its tables are replaced again and again, and each, with
 * all that it held, is kept until a full collection once one of them is old. So what is taken out is cut off.
 */
export function createRegister<T>(): Register<T> {
  const places = new Map<string, { value: T | undefined }>()
  return {
    get size() {
      return places.size
    },
    get: (id) => places.get(id)?.value,
    set: (id, value) => void places.set(id, { value }),
    delete(id) {
      const place = places.get(id)
      if (!place) return
      place.value = undefined
      places.delete(id)
    },
    values: () => Array.from(places.values(), ({ value }) => value as T),
  }
}
