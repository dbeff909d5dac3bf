/**
 * What was used last, up to a number of bytes. When there is no more room, whoever has most gives way: one owner cannot
 * push out what the others have.
 */
export type Shelves<T> = {
  get(owner: string, key: string): T | undefined
  /** What is larger than all the room is not kept, and pushes nothing out. */
  put(owner: string, key: string, value: T, bytes: number): void
  drop(owner: string, key: string): void
  readonly bytes: number
}

type Entry<T> = { readonly value: T; readonly bytes: number }
type Shelf<T> = { readonly entries: Map<string, Entry<T>>; bytes: number }

export function createShelves<T>(maxBytes: number): Shelves<T> {
  const shelves = new Map<string, Shelf<T>>()
  let total = 0

  function drop(owner: string, key: string): void {
    const shelf = shelves.get(owner)
    const entry = shelf?.entries.get(key)
    if (!shelf || !entry) return
    shelf.entries.delete(key)
    shelf.bytes -= entry.bytes
    total -= entry.bytes
    if (shelf.entries.size === 0) shelves.delete(owner)
  }

  function makeRoom(): void {
    while (total > maxBytes) {
      const [owner, shelf] = [...shelves].reduce((most, other) => (other[1].bytes > most[1].bytes ? other : most))
      drop(owner, shelf.entries.keys().next().value ?? '')
    }
  }

  return {
    get(owner, key) {
      const entries = shelves.get(owner)?.entries
      const entry = entries?.get(key)
      if (!entries || !entry) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    put(owner, key, value, bytes) {
      drop(owner, key)
      if (bytes > maxBytes) return
      const shelf = shelves.get(owner) ?? { entries: new Map(), bytes: 0 }
      shelves.set(owner, shelf)
      shelf.entries.set(key, { value, bytes })
      shelf.bytes += bytes
      total += bytes
      makeRoom()
    },
    drop,
    get bytes() {
      return total
    },
  }
}
