/** What is kept of a tile: its bytes as they are sent, in each form that was asked for. */
export type CachedTile = {
  /** Grows as further forms are made. */
  readonly forms: Map<string, Uint8Array>
  /** Of the uncompressed tile; each form's own follows from it. */
  readonly etag: string
  /** `shown/total`; absent where nothing was counted. */
  readonly features?: string
}

export type TileCache = {
  get(owner: string, key: string): CachedTile | undefined
  put(owner: string, key: string, tile: CachedTile): void
  /** A form was added to a tile that is kept. */
  grow(owner: string, key: string): void
  readonly bytes: number
}

type Entry = { readonly tile: CachedTile; bytes: number }
type Shelf = { readonly entries: Map<string, Entry>; bytes: number }

/** The key, the record and the maps around a tile. */
const overhead = 500

/**
 * The tiles used last, up to a number of bytes. When there is no more room, whoever has most gives way: one application
 * cannot push out the others' tiles.
 */
export function createTileCache(maxBytes: number): TileCache {
  const shelves = new Map<string, Shelf>()
  let total = 0

  function add(shelf: Shelf, bytes: number): void {
    shelf.bytes += bytes
    total += bytes
  }

  function drop(shelf: Shelf, key: string): void {
    const entry = shelf.entries.get(key)
    if (!entry) return
    shelf.entries.delete(key)
    add(shelf, -entry.bytes)
  }

  function makeRoom(): void {
    while (total > maxBytes) {
      const [owner, shelf] = [...shelves].reduce((most, other) => (other[1].bytes > most[1].bytes ? other : most))
      drop(shelf, shelf.entries.keys().next().value ?? '')
      if (shelf.entries.size === 0) shelves.delete(owner)
    }
  }

  return {
    get(owner, key) {
      const shelf = shelves.get(owner)
      const entry = shelf?.entries.get(key)
      if (!shelf || !entry) return undefined
      shelf.entries.delete(key)
      shelf.entries.set(key, entry)
      return entry.tile
    },
    put(owner, key, tile) {
      const bytes = sizeOf(key, tile)
      // One that is larger than all the room pushes nothing out.
      if (bytes > maxBytes) return
      const shelf = shelves.get(owner) ?? { entries: new Map(), bytes: 0 }
      shelves.set(owner, shelf)
      drop(shelf, key)
      shelf.entries.set(key, { tile, bytes })
      add(shelf, bytes)
      makeRoom()
    },
    grow(owner, key) {
      const shelf = shelves.get(owner)
      const entry = shelf?.entries.get(key)
      if (!shelf || !entry) return
      const bytes = sizeOf(key, entry.tile)
      if (bytes > maxBytes) return drop(shelf, key)
      add(shelf, bytes - entry.bytes)
      entry.bytes = bytes
      makeRoom()
    },
    get bytes() {
      return total
    },
  }
}

function sizeOf(key: string, { forms }: CachedTile): number {
  let bytes = overhead + 2 * key.length
  for (const form of forms.values()) bytes += form.byteLength
  return bytes
}
