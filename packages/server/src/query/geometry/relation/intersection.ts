// The spatial predicate "intersects", for rows that no database compares.

import type { Geometry } from '../geojson.ts'
import { isNearTree, treeExtent } from './edge-tree.ts'
import { beginComparison, edgesBeside, edgesMeet, isInAreas, type PlanarShape, planarShape } from './planar-shape.ts'

/**
 * Whether a geometry shares a point with `geometry` on the plane of degrees, as ST_Intersects says: exactly where the
 * arithmetic of doubles is exact, and elsewhere to their last digit.
 */
export function intersectionTest(geometry: Geometry): (other: Geometry) => boolean {
  const shape = planarShape(geometry, true)
  return (other) => {
    if (other.type === 'Point' && !isNearTree(shape.tree, ...other.coordinates, ...other.coordinates)) return false
    beginComparison(shape)
    return shapesMeet(shape, planarShape(other))
  }
}

function shapesMeet(shape: PlanarShape, other: PlanarShape): boolean {
  if (!isNearTree(shape.tree, ...treeExtent(other.tree))) return false
  for (let edge = 0; edge < other.areas.length; edge++) {
    if (edgesBeside(shape, other, edge).some((beside) => edgesMeet(shape, beside, other, edge))) return true
  }
  // No edge meets another: a line or a ring is inside the other's area as a whole, or not at all.
  return isAnyInside(other, shape) || isAnyInside(shape, other)
}

function isAnyInside({ starts, ends }: PlanarShape, around: PlanarShape): boolean {
  if (around.areaCount === 0) return false
  return starts.some((edge) => isInAreas(around, ends[edge * 4], ends[edge * 4 + 1]))
}
