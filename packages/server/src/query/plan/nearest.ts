// Nearest-neighbour queries (k-NN): sort rows by distance.
import { fitsIdentifier, maxIdentifierBytes } from '../../kernel/db/identifier.ts'
import { type ApiError, invalid } from '../../kernel/errors.ts'
import { geometryOperand } from '../filter/spatial-operand.ts'
import type { Attribute, Attributes } from '../values/attribute.ts'
import type { Plan, PlanColumn } from './plan.ts'

/** The unvalidated `nearest` parameter. */
export type Nearest = { attribute?: string; point?: unknown; geometry?: unknown; as?: string }

const defaultName = 'distance'

/**
 * Sorts a plan by distance and adds a column with the distance in metres along the ellipsoid. The plan's own order
 * breaks ties.
 */
export function nearestFirst(plan: Plan, nearest: Nearest | undefined, attributes: Attributes, path: string): Plan {
  if (!nearest) return plan
  if (plan.group || plan.distinct.length > 0) {
    throw invalid(path, 'must not be combined with group, distinct or aggregates')
  }
  const attribute = geometryNamed(attributes, nearest.attribute, `${path}/attribute`)
  const { as: name = defaultName } = nearest
  if (name === '' || !fitsIdentifier(name) || /\p{Cc}/u.test(name)) {
    throw invalid(`${path}/as`, `must have 1 to ${maxIdentifierBytes} bytes and no control characters`)
  }
  if (plan.columns.some((column) => column.name === name)) {
    throw invalid(`${path}/as`, `must not be "${name}", the name of another column`)
  }
  const distance: PlanColumn = { name, attribute, distanceTo: targetGeometry(nearest, path), type: 'number' }
  const order = [{ by: distance, isDescending: false }, ...plan.order]
  return { ...plan, columns: [...plan.columns, distance], order }
}

function targetGeometry({ point, geometry }: Nearest, path: string) {
  if ((point === undefined) === (geometry === undefined)) throw invalid(path, 'must have either point or geometry')
  if (geometry !== undefined) return geometryOperand(geometry, `${path}/geometry`)
  return geometryOperand({ type: 'Point', coordinates: point }, `${path}/point`)
}

/** The named geometry, or the first one. */
function geometryNamed(attributes: Attributes, name: string | undefined, path: string): Attribute {
  const geometries = [...attributes.values()].filter(({ type }) => type === 'geometry')
  const geometry = name === undefined ? geometries[0] : geometries.find((attribute) => attribute.name === name)
  if (!geometry) throw absent(path, geometries)
  return geometry
}

function absent(path: string, geometries: readonly Attribute[]): ApiError {
  const names = geometries.map(({ name }) => name).slice(0, 5)
  return invalid(
    path,
    names.length > 0 ? `must be one of ${names.join(', ')}` : 'is not possible: the dataset has no geometry',
  )
}
