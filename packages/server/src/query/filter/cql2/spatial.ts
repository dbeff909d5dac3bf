// Spatial functions and geometries of CQL2.
import type { Geometry, Position } from '../../geometry/geojson.ts'
import { relationTest, type SpatialRelation } from '../../geometry/relation/relation.ts'
import type { Attribute } from '../../values/attribute.ts'
import { show } from '../../values/fault.ts'
import { readGeometry } from '../../values/read-geometry.ts'
import { allOf, anyOf, type Filter, not } from '../filter-tree.ts'
import { bboxOperand, boxOperand, geometryOperand, maxPositions } from '../spatial-operand.ts'
import { argumentsOf, attributeOf, type FilterScope, locating } from './scope.ts'
import { type FunctionCall, type JsonPath, type Node, refuse } from './syntax.ts'

const relations: ReadonlyMap<string, SpatialRelation> = new Map<string, SpatialRelation>([
  ['s_intersects', 'intersects'],
  ['s_disjoint', 'intersects'],
  ['s_within', 'within'],
  ['s_contains', 'contains'],
  ['s_equals', 'equals'],
  ['s_touches', 'touches'],
  ['s_crosses', 'crosses'],
  ['s_overlaps', 'overlaps'],
])

export const spatialNames: readonly string[] = [...relations.keys()]

const mirrored: Partial<Record<SpatialRelation, SpatialRelation>> = { within: 'contains', contains: 'within' }

type Operand = Attribute | readonly Geometry[]

const isLiteral = (operand: Operand): operand is readonly Geometry[] => Array.isArray(operand)

export function resolveSpatial(scope: FilterScope, node: FunctionCall): Filter {
  const relation = relations.get(node.name) ?? 'intersects'
  const [first, second] = argumentsOf(node, 'geometry', 'geometry').map((argument) =>
    resolveOperand(scope, argument, relation),
  ) as [Operand, Operand]
  const filter = relate(relation, first, second)
  return node.name === 's_disjoint' ? not(filter) : filter
}

function relate(relation: SpatialRelation, first: Operand, second: Operand): Filter {
  if (!isLiteral(first)) return relateAttribute(relation, first, second)
  if (!isLiteral(second)) return relateAttribute(mirrored[relation] ?? relation, second, first)
  const holds = first.some((one) => second.some((other) => relationTest(relation, other)(one)))
  return holds ? allOf([]) : anyOf([])
}

function relateAttribute(relation: SpatialRelation, attribute: Attribute, other: Operand): Filter {
  if (!isLiteral(other)) return { kind: 'expression', test: 'relate', relation, left: attribute, right: other }
  return anyOf(other.map((geometry) => ({ kind: relation, attribute, geometry })))
}

/** For "intersects" the two parts of a box across the antimeridian stay apart, because two boxes are faster than one shape. */
function resolveOperand(scope: FilterScope, node: Node, relation: SpatialRelation): Operand {
  if (node.kind === 'property') return geometryAttribute(scope, node)
  if (node.kind === 'geometry') return [readLiteral(scope, node.value, node.jsonPath)]
  if (node.kind === 'bbox') return readBox(scope, node, relation)
  if (node.kind === 'call') {
    throw refuse(
      node.jsonPath,
      'unknown_operator',
      `${show(node.name)} is not a function that gives a geometry; there are none`,
    )
  }
  throw refuse(
    node.jsonPath,
    'invalid_value',
    'must be a geometry property, a geometry such as POINT(24.9 60.2), or a BBOX',
  )
}

function geometryAttribute(scope: FilterScope, node: Node & { kind: 'property' }): Attribute {
  const attribute = attributeOf(scope, node)
  if (attribute.type === 'geometry') return attribute
  throw refuse(
    node.jsonPath,
    'operator_not_applicable',
    `${show(node.name)} is of type ${attribute.type}, not a geometry`,
  )
}

export function readLiteral({ toDegrees }: FilterScope, value: unknown, jsonPath: JsonPath): Geometry {
  return locating(jsonPath, () => {
    const geometry = readGeometry(value, jsonPath.path, maxPositions)
    return geometryOperand(toDegrees ? converted(geometry, toDegrees) : geometry, jsonPath.path)
  })
}

function readBox(
  scope: FilterScope,
  { numbers, jsonPath }: Node & { kind: 'bbox' },
  relation: SpatialRelation,
): readonly Geometry[] {
  const box = numbers.length === 6 ? [0, 1, 3, 4].map((index) => numbers[index] ?? Number.NaN) : numbers
  const [x1, y1, x2, y2, more] = box
  if (x1 === undefined || y1 === undefined || x2 === undefined || y2 === undefined || more !== undefined) {
    throw refuse(jsonPath, 'invalid_value', 'BBOX takes four or six numbers: west, south, east, north')
  }
  const corners = scope.toDegrees ? boxInDegrees([x1, y1], [x2, y2], scope.toDegrees) : box
  if (!corners) return [readLiteral(scope, { type: 'Polygon', coordinates: [ringOf([x1, y1], [x2, y2])] }, jsonPath)]
  return locating(jsonPath, () => {
    if (relation !== 'intersects') return [boxOperand(corners, jsonPath.path)]
    return bboxOperand(corners, jsonPath.path).filter((part) => part !== undefined)
  })
}

/** The box in degrees, where it is one: in systems whose axes are meridians and parallels. */
function boxInDegrees(from: Position, to: Position, toDegrees: (position: Position) => Position): number[] | undefined {
  const [[west, south], [east, north]] = [toDegrees(from), toDegrees(to)]
  const others = [toDegrees([from[0], to[1]]), toDegrees([to[0], from[1]])]
  const isBox = others.every(([lon, lat]) => (lon === west || lon === east) && (lat === south || lat === north))
  return isBox ? [west, south, east, north] : undefined
}

const steps = 16

/** The sides of a box, each in pieces: they are curves in degrees. */
function ringOf([x1, y1]: Position, [x2, y2]: Position): Position[] {
  const corners: Position[] = [
    [x1, y1],
    [x2, y1],
    [x2, y2],
    [x1, y2],
    [x1, y1],
  ]
  const sides = corners.slice(1).flatMap((end, index) => {
    const [startX, startY] = corners[index] ?? end
    return Array.from({ length: steps }, (_, step): Position => {
      const share = (step + 1) / steps
      return [startX + (end[0] - startX) * share, startY + (end[1] - startY) * share]
    })
  })
  return [[x1, y1], ...sides]
}

function converted(geometry: Geometry, toDegrees: (position: Position) => Position): Geometry {
  switch (geometry.type) {
    case 'GeometryCollection':
      return { ...geometry, geometries: geometry.geometries.map((part) => converted(part, toDegrees)) }
    case 'Point':
      return { ...geometry, coordinates: toDegrees(geometry.coordinates) }
    case 'MultiPoint':
    case 'LineString':
      return { ...geometry, coordinates: geometry.coordinates.map(toDegrees) }
    case 'MultiLineString':
    case 'Polygon':
      return { ...geometry, coordinates: geometry.coordinates.map((line) => line.map(toDegrees)) }
    case 'MultiPolygon':
      return {
        ...geometry,
        coordinates: geometry.coordinates.map((rings) => rings.map((ring) => ring.map(toDegrees))),
      }
  }
}
