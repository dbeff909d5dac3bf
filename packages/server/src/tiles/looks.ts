import { cleanAttribution } from './attribution.ts'
import type { Detect, Detected, Extent } from './tile-source.ts'

const world: Extent = [-180, -90, 180, 90]

/** Before anything was looked at. */
export const nothingKnown = { minZoom: 0, maxZoom: 0, extentLngLat: world }

type Look = { readonly version: string; readonly found: Detected; readonly at: number; readonly tookMs: number }

/** Looking again is worth a twentieth of the time. */
const patience = 20
/** Nobody waits for a look again that takes longer than this. */
const shortMs = 200
const capacity = 10_000

/**
 * What a dataset covers, looked at once for each version of its data. Where looking takes long the next look is in the
 * background; until it is over, what has come since may be anywhere.
 */
export function createLooks(
  detect: Detect,
): (applicationId: string, id: string, version: string) => Promise<Detected & { attribution: string }> {
  const looks = new Map<string, Look>()

  const underWay = new Map<string, Promise<Look>>()

  /** One at a time for each dataset. */
  function lookOnce(applicationId: string, id: string, version: string): Promise<Look> {
    const current = underWay.get(id)
    if (current) return current
    const next = look(applicationId, id, version).finally(() => underWay.delete(id))
    underWay.set(id, next)
    return next
  }

  async function look(applicationId: string, id: string, version: string): Promise<Look> {
    const begun = performance.now()
    const found = await detect(applicationId, 'dataset', id)
    const at = performance.now()
    if (looks.size >= capacity) looks.delete(looks.keys().next().value ?? '')
    const last = { version, found, at, tookMs: at - begun }
    looks.delete(id)
    looks.set(id, last)
    return last
  }

  function lookAgain(last: Look | undefined, applicationId: string, id: string, version: string): Look | Promise<Look> {
    const next = lookOnce(applicationId, id, version)
    if (!last || last.tookMs <= shortMs) return next
    // What failed is tried again by whoever asks next.
    next.catch(() => {})
    return last
  }

  return async (applicationId, id, version) => {
    const last = looks.get(id)
    const isEnough = last && (last.version === version || performance.now() - last.at < patience * last.tookMs)
    const { found, version: seen } = isEnough ? last : await lookAgain(last, applicationId, id, version)
    const extentLngLat = seen === version ? found.extentLngLat : around(found.extentLngLat, world)
    return { ...found, extentLngLat, attribution: cleanAttribution(found.attribution ?? '') }
  }
}

const around = (a: Extent, b: Extent): Extent => [
  Math.min(a[0], b[0]),
  Math.min(a[1], b[1]),
  Math.max(a[2], b[2]),
  Math.max(a[3], b[3]),
]
