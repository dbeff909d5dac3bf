/// <reference lib="dom" />
/**
 * Swaps reloaded tiles of a source in one frame. MapLibre replaces each tile when it arrives, so a feature that moves from one tile
 * to another would be in neither or in both for some frames. Here everything that changes what a tile shows is queued until the last
 * one is there. The queue is on the main thread, behind MapLibre's workers: responses that were released together before would
 * still be parsed, and shown, one after the other.
 */
import type { LoadTileResult, Source, Tile } from 'maplibre-gl'

export interface HeldTiles {
  /** Resolves to true when every tile that is loaded because of `request` has arrived or failed, and to false when the time is over. */
  load(request: () => Promise<void>): Promise<boolean>
  /** A tile that is to be loaded again while its first load is under way, with an address that is out of date. */
  markLoading(tile: Tile): void
}

/** As long as the server works on a tile: one that has not come by then will not come soon. */
const maxHoldMs = 10_000
const pollMs = 50

type Hold = HeldTiles & {
  /** Shows what has arrived, in one frame; the rest when it arrives. */
  release(): void
  /** Why tiles could not be loaded. */
  readonly failures: readonly unknown[]
}

/** What is held of a source; there is never more than one. */
const holds = new WeakMap<Source, Hold>()

function holdTiles(source: Source): Hold {
  holds.get(source)?.release()
  const { loadTile } = source
  const queue = createQueue()
  const loading = new WeakSet<Tile>()
  const failures: unknown[] = []
  let tellReleased = (): void => {}
  const released = new Promise<void>((resolve) => {
    tellReleased = resolve
  })
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeOver = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), maxHoldMs)
  })
  /** The loads that are waited for. Tiles that come into view meanwhile are held, but not waited for. */
  let awaited: Promise<unknown>[] | undefined

  const loadHeld = async (tile: Tile): ReturnType<Source['loadTile']> => {
    await prepare(tile, loading)
    queue.hold(tile)
    return await loadTile.call(source, tile).catch((error: unknown) => {
      failures.push(error)
      return keepOld(tile, error)
    })
  }

  source.loadTile = async (tile) => {
    const load = loadHeld(tile)
    awaited?.push(load.catch(() => {}))
    // MapLibre takes the tile for loaded afterwards, so it must have the new content by then.
    await Promise.allSettled([load, released])
    return load
  }

  async function load(request: () => Promise<void>): Promise<boolean> {
    const loads: Promise<unknown>[] = []
    awaited = loads
    await request()
    awaited = undefined
    await Promise.all(loads)
    return true
  }

  function release(): void {
    if (holds.get(source) !== held) return
    holds.delete(source)
    clearTimeout(timer)
    source.loadTile = loadTile
    queue.release()
    tellReleased()
  }

  const held: Hold = {
    load: (request) => Promise.race([load(request), timeOver]),
    release,
    failures,
    markLoading: (tile) => void loading.add(tile),
  }
  holds.set(source, held)
  return held
}

/** Shows together what `work` loads. Rejects if some of it could not be loaded. */
export async function swapTogether(source: Source, work: (held: HeldTiles) => Promise<unknown>): Promise<void> {
  const held = holdTiles(source)
  try {
    await work(held)
  } finally {
    held.release()
  }
  if (held.failures.length > 0) throw held.failures[0]
}

/** What is done to a tile when it is released. Loads keep their order, because one may need the data of the one before. */
type Pending = { isUnloaded: boolean; loads: (() => void)[] }

function createQueue() {
  const held = new Map<Tile, Pending>()
  let isOpen = true

  function hold(tile: Tile): void {
    if (!isOpen || held.has(tile)) return
    const pending: Pending = { isUnloaded: false, loads: [] }
    held.set(tile, pending)
    const { loadVectorData } = tile
    tile.loadVectorData = (...args) => void pending.loads.push(() => loadVectorData.apply(tile, args))
    tile.unloadVectorData = () => void Object.assign(pending, { isUnloaded: true, loads: [] })
  }

  function release(): void {
    isOpen = false
    for (const [tile, { isUnloaded, loads }] of held) {
      for (const method of ['loadVectorData', 'unloadVectorData']) Reflect.deleteProperty(tile, method)
      if (isUnloaded) tile.unloadVectorData()
      if (!tile.aborted) for (const load of loads) load()
    }
  }

  return { hold, release }
}

/**
 * MapLibre itself does not ask again for a tile whose first load is under way, and waits for ever for one that has failed and is to
 * be loaded again, because it takes both for a load that is under way.
 */
async function prepare(tile: Tile, loading: WeakSet<Tile>): Promise<void> {
  if (tile.state !== 'loading') return
  if (loading.has(tile)) {
    while (tile.state === 'loading' && !tile.aborted) await new Promise((resolve) => setTimeout(resolve, pollMs))
    tile.state = tile.hasData() ? 'expired' : 'loading'
  }
  if (tile.state === 'loading') Reflect.deleteProperty(tile, 'actor')
}

/** A tile that cannot be loaded again goes on showing what it has, where MapLibre would drop it. */
function keepOld(tile: Tile, error: unknown): LoadTileResult {
  if (!tile.hasData()) throw error
  tile.state = 'loaded'
  return { unmodified: true }
}
