// A single-flight cache of extents and zooms.
import { cleanAttribution } from './attribution.ts'
import type { TileExtent } from './tile-bounds.ts'
import type { TileSourceCoverage } from './tile-source-type.ts'

const world: TileExtent = [-180, -90, 180, 90]

/** The coverage of a source that has not been measured yet. */
export const noCoverage = { minZoom: 0, maxZoom: 0, extentLngLat: world }

type Measurement = {
  readonly version: string
  readonly coverage: TileSourceCoverage
  readonly at: number
  readonly tookMs: number
}

/** Measure again when 20 × the duration of the last measurement has passed, so that measuring costs at most 5 %. */
const patience = 20
/** A measurement that took longer than this is repeated in the background. */
const shortMs = 200
const capacity = 10_000

/** `lastExtent` is the extent as it was last measured; rows may have been added elsewhere since. */
type Coverage = TileSourceCoverage & { readonly attribution: string; readonly lastExtent: TileExtent }

/**
 * Caches what datasets cover (extent and zooms), measured once per version of the data. A long measurement is repeated
 * in the background; until it is done the extent is the whole world, because new rows may be anywhere.
 */
export function createCoverageCache(
  detect: (applicationId: string, id: string) => Promise<TileSourceCoverage>,
): (applicationId: string, id: string, version: string) => Promise<Coverage> {
  const measured = new Map<string, Measurement>()

  const underWay = new Map<string, Promise<Measurement>>()

  /** One measurement at a time per dataset. */
  function measureOnce(applicationId: string, id: string, version: string): Promise<Measurement> {
    const current = underWay.get(id)
    if (current) return current
    const next = measure(applicationId, id, version).finally(() => underWay.delete(id))
    underWay.set(id, next)
    return next
  }

  async function measure(applicationId: string, id: string, version: string): Promise<Measurement> {
    const begun = performance.now()
    const coverage = await detect(applicationId, id)
    const at = performance.now()
    if (measured.size >= capacity) measured.delete(measured.keys().next().value ?? '')
    const last = { version, coverage, at, tookMs: at - begun }
    measured.delete(id)
    measured.set(id, last)
    return last
  }

  function measureAgain(
    last: Measurement | undefined,
    applicationId: string,
    id: string,
    version: string,
  ): Measurement | Promise<Measurement> {
    const next = measureOnce(applicationId, id, version)
    if (!last || last.tookMs <= shortMs) return next
    // A failure is handled by the next request, which tries again.
    next.catch(() => {})
    return last
  }

  return async (applicationId, id, version) => {
    const last = measured.get(id)
    const isEnough = last && (last.version === version || performance.now() - last.at < patience * last.tookMs)
    const { coverage, version: seen } = isEnough ? last : await measureAgain(last, applicationId, id, version)
    const extentLngLat = seen === version ? coverage.extentLngLat : around(coverage.extentLngLat, world)
    const attribution = cleanAttribution(coverage.attribution ?? '')
    return { ...coverage, extentLngLat, attribution, lastExtent: coverage.extentLngLat }
  }
}

const around = (a: TileExtent, b: TileExtent): TileExtent => [
  Math.min(a[0], b[0]),
  Math.min(a[1], b[1]),
  Math.max(a[2], b[2]),
  Math.max(a[3], b[3]),
]
