// Bounds a nearest-neighbour query, so that not every row is measured: the rows that an index finds nearest on the plane are
// measured first, and the wanted ones are no further than the furthest of these.
import { allOf, type Filter, not } from '../filter/filter-tree.ts'
import { isInDegrees } from '../filter/spatial-sql.ts'
import { boxesAround } from '../geometry/bounding-box.ts'
import { extentOf, type Geometry, positionsOf } from '../geometry/geojson.ts'
import type { PlaneImage } from '../geometry/plane-image.ts'
import type { Plan, PlanColumn } from '../plan/plan.ts'
import type { Attribute } from '../values/attribute.ts'

/** Whoever wants more rows than this wants most of them measured anyway. */
export const mostNearest = 10_000
/** Two measurements of one row may differ in the last digits. */
export const roundingMetres = 0.001

/** The distances of about the rows that the plan wants; undefined for a plan that has to measure all. */
export function roughlyNearest(plan: Plan, roughTo: PlaneImage = 'itself'): Plan | undefined {
  const { limit, offset, sample, after, group, distinct, order } = plan
  const [nearest] = order
  if (!nearest?.by.distanceTo || nearest.isDescending || limit === undefined || limit + offset > mostNearest)
    return undefined
  if (sample || group || distinct.length > 0) return undefined
  const where = after ? behind(nearest.by, after[0], plan.where) : plan.where
  if (!where) return undefined
  const rough = { by: { ...nearest.by, roughTo }, isDescending: false }
  const { after: _, ...rest } = plan
  return { ...rest, where, columns: [nearest.by], order: [rough], limit: limit + offset, offset: 0 }
}

/**
 * Only rows that are further than the last one of the page before, all of which are behind it. Undefined behind rows without a
 * geometry, whose distance is null.
 */
function behind({ attribute, distanceTo: geometry }: PlanColumn, distance: string | null | undefined, where: Filter) {
  if (!attribute || !geometry || typeof distance !== 'string') return undefined
  const distanceMetres = Number(distance) + roundingMetres
  return allOf([where, not({ kind: 'dwithin', attribute, geometry, distanceMetres })])
}

/** Runs a plan with one column. */
type Measure = (plan: Plan) => Promise<readonly (string | null)[]>

/** The plan among rows within reach, of which there are as many as it wants; undefined for a plan that has to measure all. */
export async function boundNearest(plan: Plan, measure: Measure): Promise<Plan | undefined> {
  const { where, order } = plan
  const { attribute, distanceTo: geometry } = order[0]?.by ?? {}
  const nearby = roughlyNearest(plan)
  if (!nearby || !attribute || !geometry) return undefined
  let distanceMetres = reachOf(plan, await measure(nearby))
  for (const image of distanceMetres === undefined ? [] : imagesOf(attribute, geometry, distanceMetres)) {
    const other = reachOf(plan, await measure(roughlyNearest(plan, image) ?? nearby))
    if (other !== undefined && other < (distanceMetres ?? 0)) distanceMetres = other
  }
  if (distanceMetres === undefined) return plan
  return { ...plan, where: allOf([where, { kind: 'dwithin', attribute, geometry, distanceMetres }]) }
}

/** How far the furthest is. Undefined if there are fewer than are wanted: then rows without a geometry are wanted too. */
function reachOf({ limit = 0, offset }: Plan, distances: readonly (string | null)[]): number | undefined {
  const isEnough = distances.length === limit + offset && !distances.includes(null)
  return isEnough ? Math.max(...distances.map(Number)) + roundingMetres : undefined
}

/** What else to look from, where the reach goes over an edge of the plane, or rows lie beyond it: they may be nearer. */
function imagesOf(attribute: Attribute, geometry: Geometry, distanceMetres: number): readonly PlaneImage[] {
  if (!isInDegrees(attribute)) return []
  const extent = extentOf(positionsOf(geometry))
  const boxes = boxesAround(extent, distanceMetres)
  const [{ west, south, east, north } = extent] = boxes
  const isOver = attribute.period !== undefined || boxes.length > 1 || west <= -180 || east >= 180
  // The opposite meridian, on the side where the plane is.
  const side = extent.west + extent.east > 0 ? 'West' : 'East'
  return [
    ...(isOver ? (['east', 'west'] as const) : []),
    ...(north >= 90 ? [`north${side}` as const] : []),
    ...(south <= -90 ? [`south${side}` as const] : []),
  ]
}
