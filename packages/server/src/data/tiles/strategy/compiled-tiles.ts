/**
 * Small tiles of requests that repeat. What depends on the source, the zoom and the form of the request is kept from a tile that was made the usual
 * way (dataset-tiles.ts); a tile then only fills in its place, sends its query and encodes the rows, in callbacks. Whatever is
 * unusual goes the usual way, which stays the definition.
 */
import { type Compression, compress, isWorthCompressing } from '../../../api/http/answers/compression.ts'
import { laneSession } from '../../../kernel/db/postgres/raw-lanes.ts'
import { type CachedTile, formsOf } from '../cache/tile-cache.ts'
import { questionKey, type TileRequest } from '../http/tile-request.ts'
import type { EncoderOptions } from '../mvt/tile-encoder.ts'
import type { LoadedTileSource } from '../source/tile-source-type.ts'
import { rawStatement } from '../sql/tile-rows.ts'
import { tileSql } from '../sql/tile-sql.ts'
import type { SmallTiles } from '../workers/small-tiles.ts'
import type { MadeTile, TileForm } from '../workers/tile-job.ts'
import { reportMade } from './report-made.ts'
import { counted, isCut, type SqlWork, type StrategyResult } from './run-tile-strategy.ts'

export type CompiledTile = TileForm & { readonly shown: number; readonly isSure: boolean }

/** By zoom. A source is loaded anew each second, so a change is seen as soon as by the usual way. */
const compiled = new WeakMap<LoadedTileSource, Map<number, CompiledTile>>()

/** Keeps how a tile was made, if others of its zoom are made like it. */
export function compileTile(
  loadedSource: LoadedTileSource,
  work: Pick<SqlWork, 'inSql' | 'query' | 'shown' | 'isSure'>,
  encoder: Omit<EncoderOptions, 'tile'> & { readonly series: string },
  { isRepeatable }: StrategyResult,
): void {
  const { inSql, query, shown, isSure } = work
  const { server, settings = '' } = inSql.connection
  if (!(isRepeatable && inSql.isTrusted && server && 'platform' in server)) return
  const { z } = query.tile
  const zooms = compiled.get(loadedSource) ?? new Map<number, CompiledTile>()
  if (zooms.has(z)) return
  const { series, ...shape } = encoder
  zooms.set(z, {
    session: laneSession(server, settings),
    statementFor: (tile) => rawStatement(tileSql({ ...query, tile }), query.columns, true),
    encoder: shape,
    series,
    shown,
    isSure,
  })
  compiled.set(loadedSource, zooms)
}

/** How this tile can be made, if a tile like it was made before. */
export function compiledFor(
  small: Pick<SmallTiles, 'expects'>,
  loadedSource: LoadedTileSource,
  { tile, extension, tree }: TileRequest,
): CompiledTile | undefined {
  const form = compiled.get(loadedSource)?.get(tile.z)
  if (!form || loadedSource.overview?.has(tile) || questionKey(tree) !== '') return undefined
  const isVector = extension === 'mvt' || extension === 'pbf'
  return isVector && small.expects(form, tile) ? form : undefined
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
    if (!made || isCut(made, form.shown)) return done(undefined)
    const kept = (full: MadeTile): void => {
      reportMade(full)
      done({ forms: formsOf(full, compression), etag: full.etag, features: counted(full, form.isSure) })
    }
    if (!isWorthCompressing(made.bytes, compression)) return kept(made)
    const begun = performance.now()
    compress(made.bytes, compression).then(
      (compressed) => kept({ ...made, compressed, compressMs: performance.now() - begun }),
      () => done(undefined),
    )
  })
}
