// Makes the tiles of datasets: chooses a strategy and runs it.

import type { Compression } from '../../../api/http/answers/compression.ts'
import { ident, sql } from '../../../kernel/db/sql.ts'
import { invalid } from '../../../kernel/errors.ts'
import { column } from '../../../query/execution/postgres-sql.ts'
import { parseFilter } from '../../../query/filter/filter.ts'
import { allOf, type Filter } from '../../../query/filter/filter-tree.ts'
import type { CellAggregate } from '../../../query/plan/cell-aggregate.ts'
import { type Plan, parsePlan, queryPaths } from '../../../query/plan/plan.ts'
import { demandSystem } from '../../../query/values/unknown-system.ts'
import type { ParameterValues } from '../../datasets/dataset-type.ts'
import { visiblePlan } from '../../datasets/rules/narrowing.ts'
import { checkInputs } from '../../datasets/sources.ts'
import { duringTime } from '../../datasets/time-setting.ts'
import { aggregateTile, tileAggregate } from '../aggregate/aggregate-tile.ts'
import type { CellRegion } from '../aggregate/cell-source.ts'
import { questionKey, type TileParameters } from '../http/tile-request.ts'
import type { TileColumn } from '../mvt/columns.ts'
import type { Coordinates, Tile } from '../mvt/projection.ts'
import { mostSeenFirst, weight } from '../overviews/overview.ts'
import type { DatasetLayer } from '../source/dataset-layer.ts'
import { tileInDegrees } from '../source/tile-bounds.ts'
import type { TileBudget } from '../source/tile-budget.ts'
import { readTileSettings, type TileSettings } from '../source/tile-settings.ts'
import type { LoadedTileSource, TileData, TileMakers } from '../source/tile-source-type.ts'
import { type SelectedColumn, selectedColumn } from '../sql/tile-columns.ts'
import { hasBox, type TileQuery, tileBuffer, tileExtent, tileMargin } from '../sql/tile-sql.ts'
import { rowsOfFile } from '../thinning/densest-tiles.ts'
import type { TileWorkers } from '../workers/tile-workers.ts'
import { blockQuery } from './block-query.ts'
import { withThinning } from './choose-thinning.ts'
import { compileTile } from './compiled-tiles.ts'
import { memoryTile } from './memory-tile.ts'
import { blocksTile } from './overview-block-tile.ts'
import { type MakeTile, runInSql, type SqlWork, type StrategyResult } from './run-tile-strategy.ts'
import { chooseStrategy } from './tile-strategy.ts'

export type DatasetTileServices = Omit<TileMakers, 'archives'>

export type DatasetTileRequest = {
  readonly tile: Tile
  readonly parameters: TileParameters
  /** Values of the dataset's own parameters. */
  readonly inputs: ParameterValues
  readonly asGeoJson: boolean
  readonly compression: Compression
}

/** A tile of a dataset, with what `explain` reports. */
export type DatasetTile = StrategyResult & { readonly source: TileData }

const blockMs = 30_000

/** Chooses a strategy from known facts, then runs it. */
export async function makeDatasetTile(
  services: DatasetTileServices,
  loadedSource: LoadedTileSource,
  request: DatasetTileRequest,
  signal: AbortSignal,
): Promise<DatasetTile> {
  const { layer } = loadedSource
  if (!layer) throw new Error('The tile source has no dataset')
  demandSystem(layer.geometry)
  const { tile, parameters, inputs: given } = request
  const aggregate = tileAggregate(layer, parameters, tile.z)
  const { settings, plan, columns } = shapeOf(loadedSource, layer, parameters)
  const { maxFeatures = services.budget.maxFeatures, maxBytes = services.budget.maxBytes } = settings
  const opened = await services.data.open(layer.dataset, given)
  if (aggregate) {
    const planIn = (region?: CellRegion) => planOf(layer, parameters, region?.tile, region?.margin)
    const work = { loadedSource, layer, opened, aggregate, request, plan: planIn }
    return { source: opened, ...(await aggregateTile(services, work, signal)) }
  }
  const budget = { maxFeatures, maxBytes }
  const shown = Math.min(maxFeatures, parameters.limit ?? maxFeatures)
  const series = `${loadedSource.source.id} ${questionKey(given)}`
  const limits = { maxFeatures: shown, maxBytes, series }
  const make = encoderOf(services.workers, layer, request, limits, signal)
  const { inSql, inBlocks } = opened
  const wanted = { plan, inTile: (margin: number) => planOf(layer, parameters, tile, margin), columns }
  const blocks = inBlocks && (await blockQuery(inBlocks, layer, wanted, signal))
  const isFiltered = isFilter(plan.where)
  const strategy = chooseStrategy({
    isInSql: inSql !== undefined,
    isInBlocks: blocks !== undefined,
    isFiltered,
    hasOverview: hasOverview(loadedSource, tile, columns),
    geometryType: layer.geometryType,
    zoom: tile.z,
    cluster: settings.cluster,
  })
  const isLimited = parameters.limit === shown
  if (blocks) {
    const sampled = rowsOfFile(layer.dataset, blocks.thinning.version, [plan.where, given])
    const rule = { budget: { maxFeatures, maxBytes }, densest: services.densest, sampled, signal }
    const work = { make, zoom: tile.z, shown, limits: { timeoutMs: blockMs, signal }, ...rule }
    return { source: opened, ...(await blocksTile(loadedSource, layer, { blocks, wanted, work, isFiltered })) }
  }
  if (!inSql) {
    const inTile = planOf(layer, parameters, tile)
    const work = { opened, plan, inTile, columns, shown, tile, inputs: given, make, ...(!isLimited && { budget }) }
    return { source: opened, ...(await memoryTile(services.rowCache, loadedSource, layer, work, signal)) }
  }
  const query = queryOf(layer, inSql, { tile, columns, plan, shown })
  const overview = strategy.from === 'overview' ? overviewQuery(loadedSource, query, inSql) : undefined
  const isSure = layer.geometryType === 'point' && hasBox(query)
  const work = { inSql, query, overview, make, shown, isLimited, isSure, signal }
  const dense = { inSql, query, budget, isFiltered, isLimited }
  const thinned = await withThinning(strategy, services, { layer, overview: loadedSource.overview }, dense)
  const made = await runInSql(thinned, work)
  const isPlain = Object.keys(parameters).length === 0 && questionKey(given) === ''
  const { repeat } = made
  if (isPlain && repeat) {
    const encoder = { ...shapeFor(layer, repeat.columns, repeat.projection), ...limits }
    compileTile(services.workers.small, loadedSource, tile, repeat, encoder)
  }
  return { source: opened, ...made }
}

/** What tiles of a source that are asked for with the same parameters have in common. */
type TileShape = { readonly settings: TileSettings; readonly plan: Plan; readonly columns: readonly SelectedColumn[] }

/** Of requests without parameters. A source is loaded anew each second, so a change is seen as soon as before. */
const plainShapes = new WeakMap<LoadedTileSource, TileShape>()

function shapeOf(loadedSource: LoadedTileSource, layer: DatasetLayer, parameters: TileParameters): TileShape {
  const isPlain = Object.keys(parameters).length === 0
  const kept = isPlain ? plainShapes.get(loadedSource) : undefined
  if (kept) return kept
  const plan = planOf(layer, parameters)
  const columns = columnsOf(layer, plan, parameters.attributes !== undefined)
  const shape = { settings: readTileSettings(loadedSource.source.metadata), plan, columns }
  if (isPlain) plainShapes.set(loadedSource, shape)
  return shape
}

/** Encodes rows in a worker thread. */
const encoderOf =
  (
    workers: TileWorkers,
    layer: DatasetLayer,
    { tile, asGeoJson, compression }: DatasetTileRequest,
    { series, ...budget }: TileBudget & { readonly series: string },
    signal: AbortSignal,
  ): MakeTile =>
  (rows, columns, projection) => {
    const isPlain = typeof projection === 'string'
    const own = isPlain ? {} : { definitions: projection.definitions }
    const shape = shapeFor(layer, columns, isPlain ? projection : 'mercator')
    const encoder = { tile, ...shape, ...budget }
    const { applicationId } = layer.dataset
    return workers.make({ rows, encoder, ...own, compression, asGeoJson }, signal, { applicationId, series })
  }

const shapeFor = (layer: DatasetLayer, columns: readonly SelectedColumn[], projection: Coordinates) => ({
  columns: encodedColumns(layer, columns),
  projection,
  extent: tileExtent,
  buffer: tileBuffer,
})

type TileContents = { tile: Tile; columns: readonly SelectedColumn[]; plan: Plan; shown: number }

function queryOf(layer: DatasetLayer, inSql: NonNullable<TileData['inSql']>, wanted: TileContents): TileQuery {
  const { tile, columns, plan, shown } = wanted
  return {
    tile,
    from: inSql.relation.from,
    geometry: layer.geometry,
    isPoint: layer.geometryType === 'point' || layer.geometryType === 'multipoint',
    columns,
    where: plan.where,
    isWrapped: layer.geometry.period !== undefined,
    order: inSql.relation.key.map(column),
    // One row more than shown tells that there are more.
    limit: shown + 1,
  }
}

/** Whether the tile can be made from the overview. One that is apart from its table leaves out long columns. */
function hasOverview({ overview }: LoadedTileSource, tile: Tile, columns: readonly SelectedColumn[]): boolean {
  if (!overview?.has(tile)) return false
  const { external } = overview
  return !external || columns.every(({ name }) => external.columns.has(name))
}

/** The same query on the overview. One that is apart from its table has the values as they are sent. */
function overviewQuery(
  { overview }: LoadedTileSource,
  query: TileQuery,
  inTable: SqlWork['inSql'],
): SqlWork['overview'] {
  if (!overview) return undefined
  const { inSql = inTable } = overview.external ?? {}
  const columns = overview.external
    ? query.columns.map((one) => ({ ...one, value: sql`q.${ident(one.name)}` }))
    : query.columns
  const order = [...mostSeenFirst, ...query.order]
  const from = overview.from(query.tile.z)
  return { inSql, query: { ...query, columns, from, geometry: overview.geometry, order, weight } }
}

const encodedOf = new WeakMap<readonly SelectedColumn[], readonly TileColumn[]>()

/** The columns as the encoder knows them, after the geometry. */
function encodedColumns({ geometry }: DatasetLayer, columns: readonly SelectedColumn[]): readonly TileColumn[] {
  const known = encodedOf.get(columns)
  if (known) return known
  const encoded = [{ name: geometry.name, kind: 'geometry' as const }, ...columns.map(plainColumn)]
  encodedOf.set(columns, encoded)
  return encoded
}

const plainColumn = ({ name, kind, isKey, isHidden, isCount }: SelectedColumn) => ({
  name,
  kind,
  ...(isKey && { isKey }),
  ...(isHidden && { isHidden }),
  ...(isCount && { isCount }),
})

/** In memory the tile's box is an ordinary filter; in SQL it is written so that the index is used. */
function planOf(layer: DatasetLayer, parameters: TileParameters, tile?: Tile, margin = tileMargin): Plan {
  const { attributes, geometry } = layer
  const { attributes: names, filter: where, 'filter-lang': filterLanguage, time } = parameters
  const query = { ...(names && { attributes: names }), where, filterLanguage }
  const plan = visiblePlan(layer.dataset, duringTime(parsePlan(query, attributes, queryPaths), time, layer))
  if (plan.group) throw invalid('query/attributes', 'must be attributes: a tile shows rows, not aggregates')
  if (!tile) return plan
  const box = parseFilter({ [geometry.name]: { $bbox: boxOf(tile, margin) } }, attributes)
  return { ...plan, where: isFilter(plan.where) ? allOf([plan.where, box]) : box }
}

/** Whether it may leave rows out. */
const isFilter = (where: Filter): boolean => where.kind !== 'and' || where.filters.length > 0

function boxOf(tile: Tile, margin: number): number[] {
  const [west, south, east, north] = tileInDegrees(tile, margin)
  if (east - west >= 360) return [-180, south, 180, north]
  return [west < -180 ? west + 360 : west, south, east > 180 ? east - 360 : east, north]
}

/** Validates the parameters of a tile that need not be made, with the same errors. */
export function checkParameters(
  loadedSource: LoadedTileSource,
  parameters: TileParameters,
  inputs: ParameterValues,
): void {
  checkPlan(loadedSource, parameters)
  if (loadedSource.layer) checkInputs(loadedSource.layer.dataset, inputs)
}

/** The same without the dataset's own parameters. The answer is what cells would have at zoom 0, if they are asked for. */
export function checkPlan({ layer }: LoadedTileSource, parameters: TileParameters): CellAggregate | undefined {
  if (!layer) return undefined
  planOf(layer, parameters)
  return tileAggregate(layer, parameters, 0)
}

/** The selected attributes, or all that are useful on a map, plus the key as the feature's id. */
function columnsOf({ dataset, attributes }: DatasetLayer, plan: Plan, isChosen: boolean): SelectedColumn[] {
  const asked = new Set(plan.columns.map(({ attribute }) => attribute?.name))
  const columns: SelectedColumn[] = []
  const keys = dataset.attributes.filter(({ primaryKey }) => primaryKey)
  for (const dto of dataset.attributes) {
    const attribute = attributes.get(dto.name)
    if (!attribute || dto.type === 'geometry') continue
    const isShown = isChosen ? asked.has(dto.name) : dto.type !== 'binary'
    const isKey = dto.primaryKey && keys.length === 1
    if (isShown || isKey) columns.push(selectedColumn({ ...dto, primaryKey: isKey }, attribute, !isShown))
  }
  return columns
}
