/** Geometries as drawing has them: single points, lines and areas in two dimensions. */
import type { DatasetAttribute } from '../../dataset.ts'

export type DrawnKind = 'Point' | 'LineString' | 'Polygon'

export interface DrawnPart {
  type: DrawnKind
  coordinates: unknown
}

export const drawnLabels: Record<DrawnKind, string> = { Point: 'Point', LineString: 'Line', Polygon: 'Area' }

/** How each is drawn. */
export const drawnHints: Record<DrawnKind, string> = {
  Point: 'Click where the point is.',
  LineString: 'Click from corner to corner; a second click on the last corner, or Enter, ends the line. Esc gives up.',
  Polygon: 'Click from corner to corner; a click on the first corner, or Enter, closes the area. Esc gives up.',
}

const kinds: readonly DrawnKind[] = ['Point', 'LineString', 'Polygon']

/** What can be drawn in a column; nothing where geometries have heights, which a map cannot give. */
export function drawnKinds({ geometryType = 'Geometry', dimension = 2 }: DatasetAttribute): readonly DrawnKind[] {
  if (dimension > 2) return []
  if (geometryType === 'Geometry' || geometryType === 'GeometryCollection') return kinds
  return kinds.filter((kind) => geometryType.endsWith(kind))
}

/** The column that a row is drawn in on the map of its table; none where the database computes it. */
export const drawnAttribute = (attributes: readonly DatasetAttribute[]): DatasetAttribute | undefined =>
  attributes.find((one) => one.type === 'geometry' && one.generated !== 'always' && drawnKinds(one).length > 0)

const isMulti = ({ geometryType = '' }: DatasetAttribute): boolean => geometryType.startsWith('Multi')

/** Whether a geometry may have several parts. */
export const takesSeveral = (attribute: DatasetAttribute): boolean =>
  isMulti(attribute) || ['Geometry', 'GeometryCollection'].includes(attribute.geometryType ?? 'Geometry')

/** More would make each movement of the pointer slow. */
const maxPositions = 5_000
/** A tenth of a millimetre. */
const decimals = 9

/** The parts of a geometry, to be drawn on; undefined if it cannot be drawn. */
export function partsOf(geometry: unknown): DrawnPart[] | undefined {
  const parts = singleParts(geometry)
  const isFlat = parts?.every(({ coordinates }) => positionsOf(coordinates).every(({ length }) => length === 2))
  const count = parts?.reduce((sum, { coordinates }) => sum + positionsOf(coordinates).length, 0) ?? 0
  if (!parts || !isFlat || count > maxPositions) return undefined
  return parts.map(({ type, coordinates }) => ({ type, coordinates: rounded(coordinates) }))
}

interface AnyGeometry {
  type?: string
  coordinates?: unknown
  geometries?: unknown[]
}

function singleParts(geometry: unknown): DrawnPart[] | undefined {
  const { type = '', coordinates, geometries } = (geometry ?? {}) as AnyGeometry
  if (geometry === null || geometry === undefined) return []
  if (type === 'GeometryCollection' && Array.isArray(geometries)) {
    const parts = geometries.map(singleParts)
    return parts.every((part) => part !== undefined) ? parts.flat() : undefined
  }
  const kind = kinds.find((one) => type === one || type === `Multi${one}`)
  if (!kind || !Array.isArray(coordinates)) return undefined
  if (type === kind) return [{ type: kind, coordinates }]
  return coordinates.map((part) => ({ type: kind, coordinates: part }))
}

function positionsOf(coordinates: unknown): number[][] {
  if (!Array.isArray(coordinates)) return []
  return typeof coordinates[0] === 'number' ? [coordinates] : coordinates.flatMap(positionsOf)
}

function rounded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rounded)
  return typeof value === 'number' ? Number(value.toFixed(decimals)) : value
}

/** The geometry of the parts that were drawn, as the column takes it; null without any. */
export function geometryOfParts(parts: readonly DrawnPart[], attribute: DatasetAttribute): object | null {
  const [first] = parts
  if (!first) return null
  if (attribute.geometryType === 'GeometryCollection') return { type: 'GeometryCollection', geometries: parts }
  const areAlike = parts.every(({ type }) => type === first.type)
  if (!areAlike) return { type: 'GeometryCollection', geometries: parts }
  if (!isMulti(attribute) && parts.length === 1) return first
  return { type: `Multi${first.type}`, coordinates: parts.map(({ coordinates }) => coordinates) }
}
