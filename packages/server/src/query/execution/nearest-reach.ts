// Bounds a nearest-neighbour query, so that not every row is measured: the rows that an index finds nearest on the plane are
// measured first, and the wanted ones are no further than the furthest of these.
import { allOf, type Filter, not } from '../filter/filter-tree.ts'
import type { Plan, PlanColumn } from '../plan/plan.ts'

/** Whoever wants more rows than this wants most of them measured anyway. */
const mostRows = 10_000
/** Two measurements of one row may differ in the last digits. */
export const roundingMetres = 0.001

/** The distances of about the rows that the plan wants; undefined for a plan that has to measure all. */
export function roughlyNearest(plan: Plan): Plan | undefined {
  const { limit, offset, sample, after, group, distinct, order } = plan
  const [nearest] = order
  if (!nearest?.by.distanceTo || nearest.isDescending || limit === undefined || limit + offset > mostRows)
    return undefined
  if (sample || group || distinct.length > 0) return undefined
  const where = after ? behind(nearest.by, after[0], plan.where) : plan.where
  if (!where) return undefined
  const rough = { by: { ...nearest.by, isRough: true }, isDescending: false }
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

/** The plan among rows within the reach of these distances, of which there are as many as it wants. */
export function withinReach(plan: Plan, distances: readonly (string | null)[]): Plan {
  const { limit = 0, offset, where, order } = plan
  const { attribute, distanceTo: geometry } = order[0]?.by ?? {}
  // With fewer, rows without a geometry are wanted too.
  const isEnough = distances.length === limit + offset && !distances.includes(null)
  if (!isEnough || !attribute || !geometry) return plan
  const distanceMetres = Math.max(...distances.map(Number)) + roundingMetres
  return { ...plan, where: allOf([where, { kind: 'dwithin', attribute, geometry, distanceMetres }]) }
}
