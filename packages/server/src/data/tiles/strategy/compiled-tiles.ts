/**
 * Small tiles of requests that repeat. What depends on the source, the zoom and the form of the request is kept from a tile that was made the usual
 * way (dataset-tiles.ts); a tile then only fills in its place, sends its query and encodes the rows, in callbacks. Whatever is
 * unusual goes the usual way, which stays the definition.
 */
import { LRUCache } from 'lru-cache'
import { type Compression, compress, isWorthCompressing } from '../../../api/http/answers/compression.ts'
import { laneSession } from '../../../kernel/db/postgres/raw-lanes.ts'
import { type CachedTile, formsOf } from '../cache/tile-cache.ts'
import { questionKey, type TileRequest } from '../http/tile-request.ts'
import type { Tile } from '../mvt/projection.ts'
import type { EncoderOptions } from '../mvt/tile-encoder.ts'
import type { LoadedTileSource } from '../source/tile-source-type.ts'
import { rawStatement } from '../sql/tile-rows.ts'
import type { SmallTiles } from '../workers/small-tiles.ts'
import type { MadeTile, TileForm } from '../workers/tile-job.ts'
import { reportMade } from './report-made.ts'
import type { RepeatableTile } from './run-tile-strategy.ts'

export type CompiledTile = TileForm & Pick<RepeatableTile, 'featuresOf'>

type Shape = Omit<EncoderOptions, 'tile'> & { readonly series: string }

/** How dense the tiles of a zoom are is looked at anew each minute. */
const keptMs = 60_000
const maxForms = 5_000

/** Of a server, by source, version and zoom. */
const compiled = new WeakMap<object, LRUCache<string, CompiledTile>>()

/** Keeps how a tile was made, if others of its zoom are made like it. */
export function compileTile(
  small: object,
  loadedSource: LoadedTileSource,
  tile: Tile,
  { inSql, columns, statementFor, ...repeat }: RepeatableTile,
  { series, ...encoder }: Shape,
): void {
  const { server, settings = '' } = inSql.connection
  const forms = compiled.get(small) ?? new LRUCache({ max: maxForms, ttl: keptMs })
  const key = keyOf(loadedSource, tile)
  if (!(inSql.isTrusted && server && 'platform' in server) || forms.has(key)) return
  forms.set(key, {
    ...repeat,
    encoder,
    series,
    session: laneSession(server, settings),
    statementFor: (other) => rawStatement(statementFor(other), columns, true),
  })
  compiled.set(small, forms)
}

/** How this tile can be made, if a tile like it was made before. */
export function compiledFor(
  small: Pick<SmallTiles, 'expects'>,
  loadedSource: LoadedTileSource,
  { tile, extension, tree }: TileRequest,
): CompiledTile | undefined {
  const isVector = extension === 'mvt' || extension === 'pbf'
  if (!isVector || questionKey(tree) !== '') return undefined
  const form = compiled.get(small)?.get(keyOf(loadedSource, tile))
  return form && small.expects(form, tile) ? form : undefined
}

const names = new WeakMap<LoadedTileSource, string>()

/** The tiles of a zoom are made alike, those of its overview and those of the table. */
const keyOf = (loadedSource: LoadedTileSource, tile: Tile): string =>
  `${nameOf(loadedSource)} ${tile.z} ${loadedSource.overview?.has(tile) === true}`

/** A source is loaded anew each second. What is known of the geometries may be newer than the version. */
function nameOf(loadedSource: LoadedTileSource): string {
  const { source, version, layer } = loadedSource
  const name = names.get(loadedSource) ?? `${source.id} ${version} ${JSON.stringify(layer?.geometry)}`
  names.set(loadedSource, name)
  return name
}

/** False if there is no place now; otherwise `done` is called later, with nothing if the tile has to be made the usual way. */
export function beginCompiled(
  small: Pick<SmallTiles, 'begin'>,
  form: CompiledTile,
  { tile }: TileRequest,
  compression: Compression,
  done: (tile: CachedTile | undefined) => void,
): boolean {
  return small.begin(form, tile, (made) => {
    const features = made && form.featuresOf(made)
    if (!made || features === undefined) return done(undefined)
    const kept = (full: MadeTile): void => {
      reportMade(full)
      done({ forms: formsOf(full, compression), etag: full.etag, features })
    }
    if (!isWorthCompressing(made.bytes, compression)) return kept(made)
    const begun = performance.now()
    compress(made.bytes, compression).then(
      (compressed) => kept({ ...made, compressed, compressMs: performance.now() - begun }),
      () => done(undefined),
    )
  })
}
