// Spatial relations of SQL/MM, for rows that no database compares.

import type { Geometry } from '../geojson.ts'
import { containmentTest } from './containment.ts'
import { interiorsMeeting } from './interior.ts'
import { intersectionTest } from './intersection.ts'
import { beginComparison, kind, type PlanarShape, planarShape } from './planar-shape.ts'

/** Relations of a geometry to another one. */
export type SpatialRelation = 'intersects' | 'within' | 'contains' | 'equals' | 'touches' | 'crosses' | 'overlaps'

/** Whether a geometry stands in this relation to `geometry` on the plane of degrees, as PostGIS says of mended shapes. */
export function relationTest(relation: SpatialRelation, geometry: Geometry): (other: Geometry) => boolean {
  switch (relation) {
    case 'intersects':
      return intersectionTest(geometry)
    case 'within':
      return containmentTest(geometry)
    case 'contains':
      return (other) => containmentTest(other)(geometry)
    case 'equals': {
      const isWithin = containmentTest(geometry)
      return (other) => isWithin(other) && containmentTest(other)(geometry)
    }
    default:
      return partialTest(relation, geometry)
  }
}

/** Relations in which neither is within the other. */
function partialTest(relation: 'touches' | 'crosses' | 'overlaps', geometry: Geometry): (other: Geometry) => boolean {
  const shape = planarShape(geometry, true)
  const [meets, isWithin] = [intersectionTest(geometry), containmentTest(geometry)]
  const dimension = dimensionOf(shape)
  return (other) => {
    if (!meets(other)) return false
    beginComparison(shape)
    const otherShape = planarShape(other)
    const otherDimension = dimensionOf(otherShape)
    const meeting = interiorsMeeting(otherShape, shape)
    if (relation === 'touches') return meeting < 0 && dimension + otherDimension > 0
    if (meeting < 0) return false
    if (relation === 'overlaps') {
      return (
        dimension === otherDimension && meeting === dimension && !isWithin(other) && !containmentTest(other)(geometry)
      )
    }
    if (dimension === otherDimension) return dimension === 1 && meeting === 0
    return otherDimension < dimension ? !isWithin(other) : !containmentTest(other)(geometry)
  }
}

/** Of a collection, the highest of its parts. */
function dimensionOf({ areas, areaCount }: PlanarShape): 0 | 1 | 2 {
  if (areaCount > 0) return 2
  return areas.includes(kind.line) ? 1 : 0
}
