import { ident, sql } from '../db/sql.ts'
import type { Attribute } from '../query/attribute.ts'
import { planSelect } from '../query/explain.ts'
import { parsePlan } from '../query/plan.ts'
import { checkArchiveUri } from './archives/archive-uri.ts'
import { tilesIn } from './grid.ts'
import { geometryOf, type TileArchives, type TileData, type TileDataset, type TileDatasets } from './known-sources.ts'
import { absentDataset } from './resolve-source.ts'
import type { Detect, Detected, Extent } from './tile-source.ts'

/** What is worth looking at as a whole while somebody waits, as the planner sees it; and no longer than this. */
const most = { rows: 50_000, cost: 50_000 }
const timeoutMs = 2_000
const world: Extent = [-180, -85.0511287798066, 180, 85.0511287798066]

/** At the highest zoom a tile shows some hundred features at most; beyond, maps enlarge what they have. */
const enough = 100
const highest = { least: 14, most: 18 }

/**
 * Finds out what a source covers, and down to which zoom tiles are worth making. Whoever asks waits, so a large table is never
 * read for it: what its database knows of it must do.
 */
export function createDetect(data: TileDatasets, archives: TileArchives): Detect {
  return async (applicationId, type, source, signal) => {
    if (type === 'tilelive') {
      checkArchiveUri(source)
      const { minZoom, maxZoom, bounds, attribution, name } = await archives.info(applicationId, source)
      return { minZoom, maxZoom, extentLngLat: bounds, ...(attribution && { attribution }), ...(name && { name }) }
    }
    return detectDataset(data, applicationId, source, signal)
  }
}

async function detectDataset(
  data: TileDatasets,
  applicationId: string,
  id: string,
  signal: AbortSignal | undefined,
): Promise<Detected> {
  const dataset = await data.find(applicationId, id)
  if (!dataset) throw absentDataset()
  const { geometry } = geometryOf(dataset)
  const attribution = dataset.metadata.attribution
  const credit = typeof attribution === 'string' ? { attribution } : {}
  try {
    const opened = await data.open(dataset, {})
    const planned = opened.inSql && (await plannedScan(opened.inSql, geometry, signal))
    const isSmall = !planned || (planned.rows <= most.rows && planned.cost <= most.cost)
    const looked = isSmall ? await lookedAt(opened, dataset, geometry, signal).catch(noneUnlessLeft(signal)) : undefined
    if (looked) return { ...looked, ...credit }
    const estimate = await data.estimate?.(dataset, signal ?? AbortSignal.timeout(timeoutMs))
    const rows = estimate?.rows ?? planned?.rows ?? 0
    return { ...mapOf(estimate?.extent, rows), isEstimate: true, ...credit }
  } catch {
    signal?.throwIfAborted()
    // A parameter without a default, or a server that does not answer: then it is everywhere.
    return { minZoom: 0, maxZoom: highest.least, extentLngLat: world, isEstimate: true, ...credit }
  }
}

const noneUnlessLeft = (signal: AbortSignal | undefined) => (): undefined => signal?.throwIfAborted() as undefined

/** What reading all rows would cost. No row is read for it, whether there are statistics or not. */
async function plannedScan(
  { connection, relation, isOurs }: NonNullable<TileData['inSql']>,
  geometry: Attribute,
  signal: AbortSignal | undefined,
): Promise<{ rows: number; cost: number }> {
  const scan = sql`SELECT q.${ident(geometry.name)} FROM ${relation.from} AS q`
  const plans = await planSelect(connection, scan, { timeoutMs, isOurs, ...(signal && { signal }) })
  const { 'Plan Rows': rows, 'Total Cost': cost } = plans[0]?.Plan ?? {}
  return { rows: Number(rows), cost: Number(cost) }
}

async function lookedAt(
  opened: TileData,
  { attributes }: TileDataset,
  geometry: Attribute,
  signal: AbortSignal | undefined,
): Promise<Omit<Detected, 'attribution'>> {
  const plan = parsePlan({ attributes: [`extent(${geometry.name}) as extent`, 'count(*) as rows'] }, attributes)
  const options = { timeoutMs, atMost: 1, ...(signal && { signal }) }
  const { batches } = await opened.rows(plan, { geometry: 'geojson', srid: 4326 }, options)
  const [cells] = (await Array.fromAsync(batches)).flat()
  const found = JSON.parse(cells?.[0] ?? 'null') as Extent | null
  return mapOf(found ?? undefined, Number(cells?.[1]))
}

/** What a map of so many rows within an extent is like. */
export function mapOf(found: Extent | undefined, rows: number): Omit<Detected, 'attribution'> {
  if (!found?.every(Number.isFinite)) return { minZoom: 0, maxZoom: highest.least, extentLngLat: world }
  const extentLngLat = padded(found)
  return { minZoom: 0, maxZoom: maxZoomFor(extentLngLat, rows), extentLngLat }
}

/** Maps ask for no tile of a source without width or height, nor of one that only touches the edge of a tile. */
function padded([west, south, east, north]: Extent): Extent {
  const pad = 1e-6
  // A row that is nowhere on Earth says nothing of the others.
  const [left, right] = west < -540 || east > 540 ? [-180, 180] : [west, east]
  const latitude = (degrees: number): number => Math.max(-90, Math.min(90, degrees))
  return [Math.max(-540, left - pad), latitude(south - pad), Math.min(540, right + pad), latitude(north + pad)]
}

function maxZoomFor(extent: Extent, rows: number): number {
  for (let z = highest.least; z < highest.most; z++) if (rows / tilesIn(extent, z) <= enough) return z
  return highest.most
}
