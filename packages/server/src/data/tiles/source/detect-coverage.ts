// Detects the extent and the zooms of a dataset.

import { ident, sql } from '../../../kernel/db/sql.ts'
import { planSelect } from '../../../query/execution/explain.ts'
import { parsePlan } from '../../../query/plan/plan.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import type { Dataset } from '../../datasets/dataset-record.ts'
import { type DatasetLayer, layerOf } from './dataset-layer.ts'
import { type TileExtent, tilesIn } from './tile-bounds.ts'
import type { TileData, TileDatasets, TileSourceCoverage } from './tile-source-type.ts'

/** The largest table, by the planner's estimate, that is scanned while a caller waits; and the longest time. */
const most = { rows: 50_000, cost: 50_000 }
const timeoutMs = 2_000
const world: TileExtent = [-180, -85.0511287798066, 180, 85.0511287798066]

/** The highest zoom is the one where a tile shows some hundred features; beyond it maps overzoom. */
const enough = 100
const highest = { least: 14, most: 18 }

/** Measures extent and zooms. The caller waits, so a large table is not scanned: its statistics must do. */
export async function detectDataset(
  data: TileDatasets,
  dataset: Dataset,
  signal: AbortSignal | undefined,
): Promise<TileSourceCoverage> {
  const layer = layerOf(dataset)
  const attribution = dataset.metadata.attribution
  const credit = typeof attribution === 'string' ? { attribution } : {}
  try {
    const opened = await data.open(dataset, {})
    const planned = opened.inSql && (await plannedScan(opened.inSql, layer.geometry, signal))
    const isSmall = !planned || (planned.rows <= most.rows && planned.cost <= most.cost)
    const looked = isSmall ? await lookedAt(opened, layer, signal).catch(noneUnlessLeft(signal)) : undefined
    if (looked) return { ...looked, ...credit }
    const estimate = await data.estimate(dataset, signal ?? AbortSignal.timeout(timeoutMs))
    const rows = estimate?.rows ?? planned?.rows ?? 0
    return { ...mapOf(estimate?.extent, rows), isEstimate: true, ...credit }
  } catch {
    signal?.throwIfAborted()
    // A required parameter or an unreachable server: assume the whole world.
    return { minZoom: 0, maxZoom: highest.least, extentLngLat: world, isEstimate: true, ...credit }
  }
}

const noneUnlessLeft = (signal: AbortSignal | undefined) => (): undefined => signal?.throwIfAborted() as undefined

/** The planner's estimate of a full scan. It reads no rows, with or without statistics. */
async function plannedScan(
  { connection, relation, isTrusted }: NonNullable<TileData['inSql']>,
  geometry: Attribute,
  signal: AbortSignal | undefined,
): Promise<{ rows: number; cost: number }> {
  const scan = sql`SELECT q.${ident(geometry.name)} FROM ${relation.from} AS q`
  const plans = await planSelect(connection, scan, { timeoutMs, isTrusted, ...(signal && { signal }) })
  const { 'Plan Rows': rows, 'Total Cost': cost } = plans[0]?.Plan ?? {}
  return { rows: Number(rows), cost: Number(cost) }
}

async function lookedAt(
  opened: TileData,
  { attributes, geometry }: DatasetLayer,
  signal: AbortSignal | undefined,
): Promise<Omit<TileSourceCoverage, 'attribution'>> {
  const plan = parsePlan({ attributes: [`extent(${geometry.name}) as extent`, 'count(*) as rows'] }, attributes)
  const options = { timeoutMs, atMost: 1, ...(signal && { signal }) }
  const { batches } = await opened.rows(plan, { geometry: 'geojson', srid: 4326 }, options)
  const [cells] = (await Array.fromAsync(batches)).flat()
  const extent = JSON.parse(cells?.[0] ?? 'null') as TileExtent | null
  return mapOf(extent ?? undefined, Number(cells?.[1]))
}

/** The zooms for a number of rows within an extent. */
export function mapOf(extent: TileExtent | undefined, rows: number): Omit<TileSourceCoverage, 'attribution'> {
  if (!extent?.every(Number.isFinite)) return { minZoom: 0, maxZoom: highest.least, extentLngLat: world }
  const extentLngLat = padded(extent)
  return { minZoom: 0, maxZoom: maxZoomFor(extentLngLat, rows), extentLngLat }
}

/**
 * Pads the extent, because maps request no tiles for one without width or height, or one that only touches a tile's
 * edge.
 */
function padded([west, south, east, north]: TileExtent): TileExtent {
  const pad = 1e-6
  // Maps expect no bounds that cross the antimeridian.
  const [left, right] = west > east ? [-180, 180] : [west, east]
  const limited = (degrees: number, most: number): number => Math.max(-most, Math.min(most, degrees))
  return [limited(left - pad, 180), limited(south - pad, 90), limited(right + pad, 180), limited(north + pad, 90)]
}

function maxZoomFor(extent: TileExtent, rows: number): number {
  for (let z = highest.least; z < highest.most; z++) if (rows / tilesIn(extent, z) <= enough) return z
  return highest.most
}
