import {
  addVertex,
  endLine,
  endPart,
  type FlatGeometry,
  resetGeometry,
} from '../../../../query/geometry/flat/flat-geometry.ts'
import { readFlatGeometry } from '../../../../query/geometry/flat/flat-geometry-read.ts'
import { geometryCode } from '../../../../query/geometry/geometry-type.ts'
import { asReadFault, ReadFault } from '../reader.ts'

const nativeTypes: Readonly<Record<string, number>> = {
  point: geometryCode.Point,
  linestring: geometryCode.LineString,
  polygon: geometryCode.Polygon,
  multipoint: geometryCode.MultiPoint,
  multilinestring: geometryCode.MultiLineString,
  multipolygon: geometryCode.MultiPolygon,
}

/** Reads a value of a geometry column, be it WKB or nested lists of coordinates; false where there is none. */
export function readParquetGeometry(value: unknown, encoding: string, geometry: FlatGeometry): boolean {
  try {
    return readValue(value, encoding, geometry)
  } catch (error) {
    throw asReadFault(error)
  }
}

function readValue(value: unknown, encoding: string, geometry: FlatGeometry): boolean {
  if (value === null || value === undefined) return false
  if (value instanceof Uint8Array) {
    if (value.length === 0) return false
    readFlatGeometry(value, 0, geometry)
    return true
  }
  const type = nativeTypes[encoding.toLowerCase()]
  if (type === undefined)
    throw new ReadFault('unsupported_format', `Geometries in the encoding "${encoding}" are not supported.`)
  resetGeometry(geometry, type, false)
  readNested(value, type, geometry)
  return true
}

function readNested(value: unknown, type: number, geometry: FlatGeometry): void {
  if (type === geometryCode.Point) addPosition(value, geometry)
  else if (type === geometryCode.LineString || type === geometryCode.MultiPoint)
    addPositions(value, geometry, type === geometryCode.LineString)
  else if (type === geometryCode.Polygon || type === geometryCode.MultiLineString)
    addLines(value, geometry, type === geometryCode.Polygon)
  else for (const part of listOf(value)) addLines(part, geometry, true)
}

function addLines(value: unknown, geometry: FlatGeometry, isArea: boolean): void {
  const lines = listOf(value)
  for (const line of lines) addPositions(line, geometry, true)
  if (isArea && lines.length) endPart(geometry)
}

function addPositions(value: unknown, geometry: FlatGeometry, isLine: boolean): void {
  for (const position of listOf(value)) addPosition(position, geometry)
  if (isLine) endLine(geometry)
}

function addPosition(value: unknown, geometry: FlatGeometry): void {
  if (typeof value !== 'object' || value === null) throw damaged()
  const { x, y, z, m } = value as { x?: unknown; y?: unknown; z?: unknown; m?: unknown }
  if (m !== undefined && m !== null) geometry.isMeasured = true
  if (z !== undefined && z !== null) geometry.hasZ = true
  addVertex(geometry, Number(x ?? Number.NaN), Number(y ?? Number.NaN), Number(z ?? 0))
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw damaged()
  return value
}

function damaged(): ReadFault {
  return new ReadFault('invalid_file', 'A geometry is damaged: its lists are not nested as its encoding says.')
}
