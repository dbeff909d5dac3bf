// Bounds a nearest-neighbour query in memory: a row that is further than as many others as are wanted is left out before it is
// measured to the end, by its box or by the first parts that are compared.
import { boxesAround, boxesMeet } from '../geometry/bounding-box.ts'
import { type Box, extentOf, type Geometry, positionsOf } from '../geometry/geojson.ts'
import { distanceFrom } from '../geometry/relation/distance.ts'
import type { Plan } from '../plan/plan.ts'
import { roughlyNearest, roundingMetres } from './nearest-reach.ts'

/** The rows among which the wanted ones are; all of them where the plan is not about the nearest few. */
export function nearestRows<Row>(
  plan: Plan,
  rows: readonly Row[],
  geometryIn: (row: Row) => Geometry | undefined,
): readonly Row[] {
  const wanted = plan.after ? undefined : roughlyNearest(plan)?.limit
  const place = plan.order[0]?.by.distanceTo
  if (wanted === undefined || !place || rows.length <= wanted) return rows
  const nearest = createNearest(place, wanted)
  return rows.filter((row) => {
    const geometry = geometryIn(row)
    return !geometry || nearest.admit(geometry)
  })
}

function createNearest(place: Geometry, wanted: number) {
  const measure = distanceFrom(place)
  const placeExtent = extentOf(positionsOf(place))
  /** In order. */
  const distances: number[] = []
  let reach = Number.POSITIVE_INFINITY
  let boxes: readonly Box[] | undefined

  function note(distance: number): void {
    distances.splice(firstAbove(distances, distance), 0, distance)
    if (distances.length > wanted) distances.pop()
    if (distances.length < wanted) return
    const furthest = (distances.at(-1) ?? 0) + roundingMetres
    if (furthest === reach) return
    reach = furthest
    boxes = boxesAround(placeExtent, reach)
  }

  return {
    admit(geometry: Geometry): boolean {
      const positions = positionsOf(geometry)
      if (positions.length === 0) return true
      const extent = boxes && extentOf(positions)
      if (extent && !boxes?.some((box) => boxesMeet(box, extent))) return false
      const distance = measure(geometry, { enough: 0, most: reach })
      if (distance > reach) return false
      note(distance)
      return true
    },
  }
}

/** By bisection. */
function firstAbove(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? 0) > value) high = middle
    else low = middle + 1
  }
  return low
}
