import { type Scope, scopeOf } from '../access/acl.ts'
import { compileSql } from '../db/sql.ts'
import { chooseCompression, compressions } from '../http/compression.ts'
import { explainSelect, tablesWithoutSpatialIndex } from '../query/explain.ts'
import { type DatasetTileServices, makeDatasetTile } from './dataset-tiles.ts'
import type { Known } from './known-sources.ts'
import type { ServedTiles, TileAsked } from './served-tiles.ts'

type Services = DatasetTileServices & { served: ServedTiles }

/** How a tile is made: what is asked of the database, what comes, what it costs, and what could be better. */
export async function explainTile(
  services: Services,
  known: Known,
  asked: TileAsked,
  scope: Scope,
  leaving: AbortSignal,
): Promise<object> {
  const cache = services.served.has(known, asked) ? 'hit' : 'miss'
  const { tile, parameters, tree, accept } = asked
  if (!known.dataset) return { source: known.source.type, tile, cache, stored: known.archive }
  const compression = chooseCompression(accept, compressions) ?? 'identity'
  const request = { tile, parameters, given: tree, asGeoJson: false, compression }
  const result = await makeDatasetTile(services, known, request, leaving)
  const { made, columns, features, statement, source } = result
  const described = {
    source: known.source.type,
    tile,
    cache,
    version: known.version,
    features,
    rows: made.seen,
    skipped: made.invalid,
    bytes: { tile: made.bytes.length, [compression]: made.compressed?.length ?? made.bytes.length },
    bytesPerAttribute: Object.fromEntries(
      // The first column is the geometry.
      [known.dataset.geometry.name, ...columns.map(({ name }) => name)].map((name, index) => [
        name,
        made.bytesPerColumn[index] ?? 0,
      ]),
    ),
    milliseconds: { query: round(made.queryMs), encode: round(made.encodeMs), compress: round(made.compressMs) },
  }
  // What a source is made of is for those who may read it.
  const reach = scopeOf(scope.caller, 'datasets', 'read')
  const mayRead = reach && (reach.ids === 'any' || reach.ids.includes(known.dataset.id))
  if (!source.inSql || !statement || !mayRead) return described
  const { connection } = source.inSql
  const options = { timeoutMs: 10_000, signal: leaving }
  const [{ Plan: plan }] = (await explainSelect(connection, statement, options)) as [{ Plan: object }]
  const unindexed = await tablesWithoutSpatialIndex(connection, statement, known.dataset.geometry.name, options)
  return { ...described, sql: compileSql(statement).text, plan, hints: hintsOf(known, unindexed) }
}

const round = (ms: number): number => Math.round(ms * 100) / 100

function hintsOf({ dataset }: Known, unindexed: Awaited<ReturnType<typeof tablesWithoutSpatialIndex>>): string[] {
  const { geometry, dtos } = dataset ?? {}
  const hints = unindexed.map(
    ({ table, column }) =>
      `${table} has no spatial index on "${column}", so each tile reads all of it. Add one: CREATE INDEX ON ${table} USING gist ("${column}").`,
  )
  if (!dtos?.some(({ primaryKey }) => primaryKey))
    hints.push('There is no primary key, so features have no id and no fixed order.')
  if (geometry?.srid === 0)
    hints.push('The geometry has no SRID: it is taken for 4326. Set metadata.srid of the dataset.')
  if (geometry?.mixed) hints.push('The geometries have SRIDs of their own, so no spatial index can be used.')
  return hints
}
