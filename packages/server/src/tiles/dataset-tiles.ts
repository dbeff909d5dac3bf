import type { Sql } from '../db/sql.ts'
import { ApiError, invalid } from '../errors.ts'
import type { Compression } from '../http/compression.ts'
import { blame } from '../query/connection.ts'
import { type Plan, parsePlan, queryPlaces } from '../query/plan.ts'
import { column } from '../query/plan-sql.ts'
import { clusterColumns, clusterSql } from './cluster-sql.ts'
import { tileInDegrees } from './grid.ts'
import type { KeptRows } from './kept-rows.ts'
import type { Known, TileData, TileDatasets } from './known-sources.ts'
import type { Coordinates, Tile } from './mvt/projection.ts'
import { mostSeenFirst, overviewFringe, weight } from './overviews/overview.ts'
import { type Definitions, isTransformFault, ownCoordinates } from './own-coordinates.ts'
import { type SelectedColumn, selectedColumn } from './tile-columns.ts'
import type { MadeTile, TileRows } from './tile-job.ts'
import { questionKey, type TileParameters } from './tile-request.ts'
import { memoryBatches, roughTotalOf, sqlRows, totalOf } from './tile-rows.ts'
import {
  bySize,
  coordinatesOf,
  hasBox,
  type TileQuery,
  tileBuffer,
  tileExtent,
  tileMargin,
  tileSql,
} from './tile-sql.ts'
import type { TileWorkers } from './tile-workers.ts'
import { checkTuning, type Tuning } from './tuning.ts'

export type TileBudget = { readonly maxFeatures: number; readonly maxBytes: number }

export type DatasetTileServices = {
  data: TileDatasets
  workers: TileWorkers
  budget: TileBudget
  kept: KeptRows
}

type Given = Readonly<Record<string, unknown>>

export type DatasetTileRequest = {
  readonly tile: Tile
  readonly parameters: TileParameters
  /** Parameters of the dataset itself. */
  readonly given: Given
  readonly asGeoJson: boolean
  readonly compression: Compression
}

/** A tile made of a dataset, and what is said of it. */
export type DatasetTile = {
  readonly made: MadeTile
  readonly columns: readonly SelectedColumn[]
  /** Features in the tile, and in the data. */
  readonly features: string
  readonly statement?: Sql
  readonly source: TileData
}

type Dataset = NonNullable<Known['dataset']>

/** Encodes rows that have these columns after the geometry. */
type Make = (
  rows: TileRows,
  columns: readonly SelectedColumn[],
  projection: Coordinates | { readonly definitions: Definitions },
) => Promise<MadeTile>

export async function makeDatasetTile(
  { data, workers, budget, kept }: DatasetTileServices,
  known: Known,
  request: DatasetTileRequest,
  signal: AbortSignal,
): Promise<DatasetTile> {
  const { dataset, source: tileSource } = known
  if (!dataset) throw new Error('The tile source has no dataset')
  const { tile, parameters, given, asGeoJson, compression } = request
  const tuning = checkTuning(tileSource.metadata)
  const { maxFeatures = budget.maxFeatures, maxBytes = budget.maxBytes } = tuning
  const opened = await data.open(dataset, given)
  const plan = planOf(dataset, parameters)
  const columns = columnsOf(dataset, plan, parameters.attributes !== undefined)
  const shown = Math.min(maxFeatures, parameters.limit ?? maxFeatures)
  const make: Make = (rows, rowColumns, projection) => {
    const geometry = { name: dataset.geometry.name, kind: 'geometry' as const }
    const shape = { extent: tileExtent, buffer: tileBuffer, maxFeatures: shown, maxBytes }
    const [coordinates, own] =
      typeof projection === 'string'
        ? [projection, {}]
        : (['mercator', { definitions: projection.definitions }] as const)
    const columns = [geometry, ...rowColumns.map(plainColumn)]
    const encoder = { tile, columns, projection: coordinates, ...shape }
    return workers.make({ rows, encoder, ...own, compression, asGeoJson }, signal)
  }

  const { inSql } = opened
  if (!inSql) {
    const read = (asked: Plan, end: AbortSignal) => memoryBatches(opened, asked, dataset.geometry, columns, end)
    const all = { tile, margin: tileMargin, signal, read: (end: AbortSignal) => read(plan, end) }
    const rows =
      (await kept.inTile(tileSource.applicationId, `${tileSource.id} ${known.version} ${questionKey(given)}`, all)) ??
      cellsOf(await Array.fromAsync(await read(planOf(dataset, parameters, tile), signal)))
    const made = await make(rows, columns, 'lonlat')
    return { made, columns, source: opened, features: counted(made, dataset.geometryType === 'point') }
  }
  const query = queryOf(known, dataset, inSql, { tile, columns, plan, shown })
  const isSure = dataset.geometryType === 'point' && hasBox(query)
  const cluster = clusterAt(tuning, dataset, tile)
  const work = { inSql, make, shown, limit: parameters.limit, isSure, cluster, signal }
  const thinned = (work.cluster ?? 0) > overviewFringe ? undefined : thinnedQuery(known, query)
  try {
    return { source: opened, ...(await (thinned ? whole(thinned, work) : drawnAnyhow(query, work))) }
  } catch (error) {
    // The overview has just been replaced by one without this zoom.
    if (!thinned || !(error instanceof ApiError && error.code === 'invalid_request'))
      return blame(inSql.connection)(error)
    return { source: opened, ...(await drawnAnyhow(query, work)) }
  }
}

type Work = {
  readonly inSql: NonNullable<TileData['inSql']>
  readonly make: Make
  readonly shown: number
  readonly limit: number | undefined
  /** Every row whose box touches the tile is a feature of it. */
  readonly isSure: boolean
  /** The width of a cluster in tiles. */
  readonly cluster: number | undefined
  readonly signal: AbortSignal
}

type Made = Omit<DatasetTile, 'source'>

/** Where the database cannot transform some place, the rows travel as they are: only those that are nowhere are left out. */
async function drawnAnyhow(query: TileQuery, work: Work): Promise<Made> {
  try {
    return await drawn(query, work)
  } catch (error) {
    const own = isTransformFault(error) && (await ownCoordinates(work.inSql, query, tileMargin, work.signal))
    if (!own) throw error
    return drawn({ ...query, own }, { ...work, cluster: undefined })
  }
}

/** From the table itself. When there is too much of it, the largest come first, which takes longer. */
async function drawn(query: TileQuery, work: Work): Promise<Made> {
  const { inSql, make, shown, limit, cluster, isSure, signal } = work
  if (cluster !== undefined) return whole(query, work)
  const { columns } = query
  const projection = query.own ?? coordinatesOf(query.geometry)
  const first = tileSql(query)
  const made = await make(await sqlRows(inSql, first, columns, signal), columns, projection)
  const isCut = made.shown + made.refused > shown || made.seen > shown
  if (!isCut) return { made, columns, statement: first, features: counted(made, isSure) }
  const total = await roughTotalOf(inSql, query, signal)
  const isExact = total.isCounted && isSure
  const counts = (best: MadeTile): string => featuresText(best.shown, { rows: total.rows, isExact })
  if (query.isPoint || limit === shown) return { made, columns, statement: first, features: counts(made) }
  const second = tileSql({ ...query, order: [bySize(query.geometry), ...query.order] })
  const best = await make(await sqlRows(inSql, second, columns, signal), columns, projection)
  return { made: best, columns, statement: second, features: counts(best) }
}

/** Where a feature can stand for many rows: these are counted. */
async function whole(query: TileQuery, { inSql, make, cluster, isSure, signal }: Work): Promise<Made> {
  const isClustered = cluster !== undefined
  const columns = isClustered ? clusterColumns(query.columns) : query.columns
  const statement = isClustered ? clusterSql(query, cluster) : tileSql(query)
  const projection = isClustered ? 'mercator' : coordinatesOf(query.geometry)
  const [made, total] = await Promise.all([
    sqlRows(inSql, statement, columns, signal).then((rows) => make(rows, columns, projection)),
    totalOf(inSql, query, signal),
  ])
  return { made, columns, statement, features: featuresText(made.shown, { rows: total, isExact: isSure }) }
}

type Wanted = { tile: Tile; columns: readonly SelectedColumn[]; plan: Plan; shown: number }

function queryOf(known: Known, dataset: Dataset, inSql: Work['inSql'], wanted: Wanted): TileQuery {
  const { tile, columns, plan, shown } = wanted
  const [west, , east] = known.source.extentLngLat
  return {
    tile,
    from: inSql.relation.from,
    geometry: dataset.geometry,
    isPoint: dataset.geometryType === 'point' || dataset.geometryType === 'multipoint',
    columns,
    where: plan.where,
    isWrapped: west < -180 || east > 180,
    order: inSql.relation.key.map(column),
    // One more than can be shown tells that there are more.
    limit: shown + 1,
  }
}

/** The same from the overview, where there is one for this zoom. A filter needs the rows themselves. */
function thinnedQuery({ overview }: Known, query: TileQuery): TileQuery | undefined {
  const { where, order, tile } = query
  const isFiltered = where.kind !== 'and' || where.filters.length > 0
  if (!overview?.has(tile) || isFiltered) return undefined
  const { geometry } = overview
  return { ...query, from: overview.from(tile.z), geometry, order: [...mostSeenFirst, ...order], weight }
}

function clusterAt({ cluster }: Tuning, { geometryType }: Dataset, { z }: Tile): number | undefined {
  if (!cluster || geometryType !== 'point' || z > cluster.maxZoom) return undefined
  // Whole cells of an overview, so that a cluster is the same whatever it is made of.
  return Math.max(1, Math.round((cluster.radius ?? 40) / 4)) / 128
}

/** Those that were refused were not looked at. */
const counted = ({ shown, refused }: MadeTile, isSure: boolean): string =>
  featuresText(shown, { rows: shown + refused, isExact: isSure || refused === 0 })

const featuresText = (shown: number, { rows, isExact }: { rows: number; isExact: boolean }): string =>
  `${shown}/${isExact ? '' : '~'}${Math.max(rows, shown)}`

const cellsOf = (batches: (string | null)[][][]): TileRows => ({ cells: batches.flat(), geometry: 'geojson' })

const plainColumn = ({ name, kind, isKey, isHidden }: SelectedColumn) => ({
  name,
  kind,
  ...(isKey && { isKey }),
  ...(isHidden && { isHidden }),
})

/** Where rows are read for one tile in memory, it is a condition like any other; in SQL it is written for the index. */
function planOf({ attributes, geometry }: Dataset, parameters: TileParameters, tile?: Tile): Plan {
  const { attributes: names, filter } = parameters
  const box = tile && { [geometry.name]: { $bbox: boxOf(tile) } }
  const where = box ? { $and: [...(filter === undefined ? [] : [filter]), box] } : filter
  const plan = parsePlan({ ...(names && { attributes: names }), where }, attributes, queryPlaces)
  if (plan.group) throw invalid('query/attributes', 'must be attributes: a tile shows rows, not aggregates')
  return plan
}

function boxOf(tile: Tile): number[] {
  const [west, south, east, north] = tileInDegrees(tile, tileMargin)
  if (east - west >= 360) return [-180, south, 180, north]
  return [west < -180 ? west + 360 : west, south, east > 180 ? east - 360 : east, north]
}

/** The same errors as the tile would be, for one that need not be made. */
export function checkParameters(
  { data }: DatasetTileServices,
  { dataset }: Known,
  parameters: TileParameters,
  given: Given,
): void {
  if (!dataset) return
  planOf(dataset, parameters)
  data.check(dataset, given)
}

/** What was asked for, or all that is worth showing; and the key, which identifies a feature. */
function columnsOf({ dtos, attributes }: Dataset, plan: Plan, isChosen: boolean): SelectedColumn[] {
  const asked = new Set(plan.columns.map(({ attribute }) => attribute?.name))
  const columns: SelectedColumn[] = []
  const keys = dtos.filter(({ primaryKey }) => primaryKey)
  for (const dto of dtos) {
    const attribute = attributes.get(dto.name)
    if (!attribute || dto.type === 'geometry') continue
    const isShown = isChosen ? asked.has(dto.name) : dto.type !== 'binary'
    const isKey = dto.primaryKey && keys.length === 1
    if (isShown || isKey) columns.push(selectedColumn({ ...dto, primaryKey: isKey }, attribute, !isShown))
  }
  return columns
}
