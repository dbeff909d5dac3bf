import { parsePlan } from '../query/plan.ts'
import { checkArchiveUri } from './archives/archive-uri.ts'
import { tilesIn } from './grid.ts'
import { geometryOf, type TileArchives, type TileDatasets } from './known-sources.ts'
import { absentDataset } from './resolve-source.ts'
import type { Detect, Detected, Extent } from './tile-source.ts'

const timeoutMs = 10_000
const world: Extent = [-180, -85.0511287798066, 180, 85.0511287798066]

/** At the highest zoom a tile shows some hundred features at most; beyond, maps enlarge what they have. */
const enough = 100
const highest = { least: 14, most: 18 }

/** Looks at a source: what it covers, and down to which zoom tiles are worth making. */
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
    const plan = parsePlan(
      { attributes: [`extent(${geometry.name}) as extent`, 'count(*) as rows'] },
      dataset.attributes,
    )
    const opened = await data.open(dataset, {})
    const options = { timeoutMs, atMost: 1, ...(signal && { signal }) }
    const { batches } = await opened.rows(plan, { geometry: 'geojson', srid: 4326 }, options)
    const [cells] = (await Array.fromAsync(batches)).flat()
    const found = JSON.parse(cells?.[0] ?? 'null') as Extent | null
    return { ...mapOf(found ?? undefined, Number(cells?.[1])), ...credit }
  } catch {
    signal?.throwIfAborted()
    // Too much to look at, or a parameter without a default: then it is everywhere.
    return { minZoom: 0, maxZoom: highest.least, extentLngLat: world, ...credit }
  }
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
