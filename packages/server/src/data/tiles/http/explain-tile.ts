// EXPLAIN for tiles.
import { reachesId, type Scope, scopeOf } from '../../../api/access/acl.ts'
import { chooseCompression, compressions } from '../../../api/http/answers/compression.ts'
import { compileSql } from '../../../kernel/db/sql.ts'
import { explainSelect, tablesWithoutSpatialIndex } from '../../../query/execution/explain.ts'
import type { ReadThroughCache } from '../cache/read-through-cache.ts'
import type { LoadedTileSource } from '../source/tile-source-type.ts'
import { type DatasetTileServices, makeDatasetTile } from '../strategy/dataset-tiles.ts'
import type { TileRequest } from './tile-request.ts'

type Services = DatasetTileServices & { readThrough: ReadThroughCache }

/** Reports how a tile is made: the statement, its rows, its cost, and advice. */
export async function explainTile(
  services: Services,
  loadedSource: LoadedTileSource,
  tileRequest: TileRequest,
  scope: Scope,
  leaving: AbortSignal,
): Promise<object> {
  const cache = services.readThrough.has(loadedSource, tileRequest) ? 'hit' : 'miss'
  const { tile, parameters, tree, accept } = tileRequest
  if (!loadedSource.layer) return { source: loadedSource.source.type, tile, cache, stored: loadedSource.archive }
  const compression = chooseCompression(accept, compressions) ?? 'identity'
  const request = { tile, parameters, inputs: tree, asGeoJson: false, compression }
  const result = await makeDatasetTile(services, loadedSource, request, leaving)
  const { made, columns, features, statement, source } = result
  const described = {
    source: loadedSource.source.type,
    tile,
    cache,
    version: loadedSource.version,
    features,
    rows: made.seen,
    skipped: made.invalid,
    bytes: { tile: made.bytes.length, [compression]: made.compressed?.length ?? made.bytes.length },
    bytesPerAttribute: Object.fromEntries(
      // The first column is the geometry.
      [loadedSource.layer.geometry.name, ...columns.map(({ name }) => name)].map((name, index) => [
        name,
        made.bytesPerColumn[index] ?? 0,
      ]),
    ),
    milliseconds: { query: round(made.queryMs), encode: round(made.encodeMs), compress: round(made.compressMs) },
  }
  // The statement is shown only to callers who may read the dataset, all of it: it names hidden attributes, and its plan counts hidden rows.
  const { id, narrowing } = loadedSource.layer.dataset
  const mayRead = !narrowing && reachesId(scopeOf(scope.caller, 'datasets', 'read'), id)
  const { inSql = source.inSql } = result
  if (!inSql || !statement || !mayRead) return described
  const { connection } = inSql
  const options = { timeoutMs: 10_000, signal: leaving }
  const [{ Plan: plan }] = (await explainSelect(connection, statement, options)) as [{ Plan: object }]
  const unindexed = await tablesWithoutSpatialIndex(connection, statement, loadedSource.layer.geometry.name, options)
  return { ...described, sql: compileSql(statement).text, plan, hints: hintsOf(loadedSource, unindexed) }
}

const round = (ms: number): number => Math.round(ms * 100) / 100

function hintsOf(
  { layer }: LoadedTileSource,
  unindexed: Awaited<ReturnType<typeof tablesWithoutSpatialIndex>>,
): string[] {
  const { geometry, dataset } = layer ?? {}
  const hints = unindexed.map(
    ({ table, column }) =>
      `${table} has no spatial index on "${column}", so each tile reads all of it. Add one: CREATE INDEX ON ${table} USING gist ("${column}").`,
  )
  if (!dataset?.attributes.some(({ primaryKey }) => primaryKey))
    hints.push('There is no primary key, so features have no id and no fixed order.')
  if (geometry?.srid === 0)
    hints.push('The geometry has no SRID: it is taken for 4326. Set metadata.srid of the dataset.')
  if (geometry?.mixed) hints.push('The geometries have SRIDs of their own, so no spatial index can be used.')
  return hints
}
