/**
 * Reloads the vector tiles of a dataset in which something changed, and no others. The old ones are drawn until all new ones are
 * there, and have the same state of the data.
 */
import type { Map as MapLibreMap, Tile, VectorTileSource } from 'maplibre-gl'
import type { DescribedTiles, MapClient } from '../map-client.ts'
import { versionOf, withVersion } from '../source/tile-address.ts'
import { touchesTile } from '../source/tile-area.ts'
import { type HeldTiles, swapTogether } from './hold-tiles.ts'
import { type Changes, type FollowedTiles, type NextChanges, randomToken } from './live.ts'

/** A table that is written all the time is never the same at the beginning and at the end: what it shows is then nearly right. */
const maxRounds = 3

/** Sources of which some tiles may be older than the version in the address of tiles. */
const mixed = new WeakSet<VectorTileSource>()

type ShownSource = { readonly gl: MapLibreMap; readonly client: MapClient; readonly sourceId: string }

/**
 * Reloads nothing if all tiles of the map are of the newest version. Rejects if some tiles could not be loaded; they go on showing
 * what they had.
 */
export async function renewTiles(
  { gl, client, sourceId }: ShownSource,
  { tileSourceId, apiKey }: FollowedTiles,
  changes: Changes,
  next: NextChanges,
): Promise<void> {
  if (changes.area?.length === 0) return
  const source = gl.getSource<VectorTileSource>(sourceId)
  // A token that it does not know makes the server look at the data again, whose version it otherwise believes for a second.
  const describe = (token: string) => client.tiles.describe(tileSourceId, { 'tile-version': token, apiKey })
  const first = stateOf(await describe(changes.token), changes)
  if (!source || gl.getSource(sourceId) !== source) return
  if (first.version === versionOf(source.tiles[0]) && !mixed.has(source)) return
  mixed.add(source)
  await swapTogether(source, (held) => loadState(first, { gl, source, held, describe, next }))
  if (!changes.area) mixed.delete(source)
}

/** The state that tiles are to have: what has changed, and the address under which they are at least as new. */
type TileState = Changes & { readonly version: string }

const stateOf = ({ tiles, dataset }: DescribedTiles, changes: Changes): TileState => ({
  ...changes,
  version: versionOf(tiles?.[0]),
  // Where everything is loaded again, it has what was there before.
  lastChange: (changes.area ? undefined : dataset?.lastChange) ?? changes.lastChange,
})

type Loading = {
  readonly gl: MapLibreMap
  readonly source: VectorTileSource
  readonly held: HeldTiles
  readonly next: NextChanges
  describe(token: string): Promise<DescribedTiles>
}

/**
 * A tile has the rows of the moment in which the server read them. If more has changed by the time that the last tile is there, a row
 * may have moved between two readings, so the tiles of that change are loaded too before any of them is shown.
 */
async function loadState(first: TileState, { gl, source, held, describe, next }: Loading): Promise<void> {
  let state = first
  for (let round = 1; await held.load(() => requestTiles(gl, source, state, held)); round++) {
    if (round === maxRounds || !isAhead((await describe(randomToken())).dataset?.lastChange, state.lastChange)) return
    const more = await next()
    if (!more) return
    state = stateOf(await describe(more.token), more)
  }
}

/** Versions of changes are of a transaction and of a statement in it. */
function isAhead(last: string | undefined, shown: string | undefined): boolean {
  if (!last || !shown) return last !== shown
  const [[transaction = 0, statement = 0], [knownTransaction = 0, knownStatement = 0]] = [
    numbersOf(last),
    numbersOf(shown),
  ]
  return transaction > knownTransaction || (transaction === knownTransaction && statement > knownStatement)
}

const numbersOf = (version: string): number[] => version.split('.').map(Number)

/**
 * Not by MapLibre's `refreshTiles`, which leaves old tiles in the cache of those that are out of view, nor by `setTiles`, which loads
 * all again: the source says that its content has changed and which tiles are meant, as MapLibre's GeoJSON source does.
 */
async function requestTiles(
  gl: MapLibreMap,
  source: VectorTileSource,
  { version, area }: TileState,
  held: HeldTiles,
): Promise<void> {
  // MapLibre ignores changes of content while changes of layers wait to be drawn.
  do await nextFrame(gl)
  while (gl.style?.tileManagers[source.id]?._paused)
  source.tiles = source.tiles.map((address) => withVersion(address, version))
  Object.assign(source, {
    // Rows may now be where the TileJSON said that nothing is.
    tileBounds: undefined,
    shouldReloadTile: (tile: Tile) => {
      if (!touchesTile(area, tile.tileID.canonical)) return false
      if (tile.state === 'loading') held.markLoading(tile)
      return true
    },
  })
  const content = { dataType: 'source', sourceDataType: 'content', sourceDataChanged: true }
  source.fire('data', { ...content, shouldReloadTileOptions: {} })
}

const nextFrame = (gl: MapLibreMap): Promise<unknown> => {
  const frame = gl.once('render')
  gl.triggerRepaint()
  return frame
}
