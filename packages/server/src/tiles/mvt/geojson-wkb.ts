import { type ByteWriter, reserve } from './byte-writer.ts'

const codes = new Map([
  ['Point', 1],
  ['LineString', 2],
  ['Polygon', 3],
  ['MultiPoint', 4],
  ['MultiLineString', 5],
  ['MultiPolygon', 6],
  ['GeometryCollection', 7],
])
const maxDepth = 32

/** Writes a GeoJSON geometry as WKB; false when it is none. */
export function writeGeoJson(writer: ByteWriter, geometry: unknown, depth = 0): boolean {
  if (typeof geometry !== 'object' || geometry === null || depth > maxDepth) return false
  const { type, coordinates, geometries } = geometry as Record<string, unknown>
  const code = codes.get(type as string)
  if (code === undefined) return false
  const members = code === 7 ? geometries : coordinates
  if (!Array.isArray(members)) return false
  writeHeader(writer, code)
  if (code === 1) return writePosition(writer, members.length === 0 ? [Number.NaN, Number.NaN] : members)
  writeCount(writer, members.length)
  if (code === 7) return members.every((member) => writeGeoJson(writer, member, depth + 1))
  if (code === 2) return members.every((position) => writePosition(writer, position))
  if (code === 3) return members.every((ring) => writeLine(writer, ring))
  return members.every((member) => writeMember(writer, code - 3, member))
}

/** A part of a multi-geometry. */
function writeMember(writer: ByteWriter, code: number, coordinates: unknown): boolean {
  writeHeader(writer, code)
  if (code === 1) return writePosition(writer, coordinates)
  if (code === 2) return writeLine(writer, coordinates)
  if (!Array.isArray(coordinates)) return false
  writeCount(writer, coordinates.length)
  return coordinates.every((ring) => writeLine(writer, ring))
}

function writeLine(writer: ByteWriter, positions: unknown): boolean {
  if (!Array.isArray(positions)) return false
  writeCount(writer, positions.length)
  return positions.every((position) => writePosition(writer, position))
}

function writePosition(writer: ByteWriter, position: unknown): boolean {
  if (!Array.isArray(position)) return false
  const [x, y] = position
  if (typeof x !== 'number' || typeof y !== 'number') return false
  reserve(writer, 16)
  writer.view.setFloat64(writer.length, x, true)
  writer.view.setFloat64(writer.length + 8, y, true)
  writer.length += 16
  return true
}

function writeHeader(writer: ByteWriter, code: number): void {
  const bytes = reserve(writer, 5)
  bytes[writer.length] = 1
  writer.view.setUint32(writer.length + 1, code, true)
  writer.length += 5
}

function writeCount(writer: ByteWriter, count: number): void {
  reserve(writer, 4)
  writer.view.setUint32(writer.length, count, true)
  writer.length += 4
}
