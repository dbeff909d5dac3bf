import { plainTypes } from '../../../../query/geometry/encoding/wkb-reader.ts'
import { addArcs } from '../../../../query/geometry/flat/arc.ts'
import {
  addVertex,
  createFlatGeometry,
  endLine,
  endPart,
  type FlatGeometry,
  reserveVertices,
  resetGeometry,
} from '../../../../query/geometry/flat/flat-geometry.ts'
import { geometryCode } from '../../../../query/geometry/geometry-type.ts'
import {
  byteField,
  damagedBuffer,
  type FlatbufferTable,
  type FlatbufferVector,
  spend,
  tableOfVector,
  vectorField,
} from './flatbuffer.ts'

const maxDepth = 32

/** The plain type that a type of FlatGeobuf is read as. */
const readableTypes: Readonly<Record<number, number>> = {
  ...Object.fromEntries(Object.values(geometryCode).map((code) => [code, code])),
  ...plainTypes,
}

/** Reads the table into the geometry; false when its type is not known. `type` is 0 when the table says it. */
export function readFlatGeometry(table: FlatbufferTable, type: number, geometry: FlatGeometry, depth = 0): boolean {
  if (depth > maxDepth) throw damagedBuffer()
  const code = type || byteField(table, 6)
  const plain = readableTypes[code]
  if (plain === undefined) return false
  resetGeometry(geometry, plain, vectorField(table, 2, 8).length > 0)
  if (plain === geometryCode.GeometryCollection) return readMembers(table, geometry, depth)
  if (plain === geometryCode.MultiPolygon) readParts(table, geometry, depth, readSurface)
  else if (plain === geometryCode.Polygon) readSurface(table, code, geometry, depth)
  else if (code === 11) readParts(table, geometry, depth, readCurvePart)
  else if (plain === geometryCode.LineString) readCurvePart(table, code, geometry, depth)
  else readVertices(table, geometry, plain === geometryCode.MultiLineString)
  return true
}

function readMembers(table: FlatbufferTable, geometry: FlatGeometry, depth: number): boolean {
  const parts = vectorField(table, 7, 4)
  for (let part = 0; part < parts.length; part++) {
    const member = createFlatGeometry()
    if (readFlatGeometry(tableOfVector(table, parts, part), 0, member, depth + 1)) geometry.members.push(member)
    if (member.hasZ) geometry.hasZ = true
  }
  return true
}

type ReadPart = (table: FlatbufferTable, code: number, geometry: FlatGeometry, depth: number) => void

function readParts(table: FlatbufferTable, geometry: FlatGeometry, depth: number, read: ReadPart): void {
  const parts = vectorField(table, 7, 4)
  // A multi-polygon of one may be written as its polygon.
  if (parts.length === 0 && vectorField(table, 1, 8).length > 0) read(table, 0, geometry, depth)
  for (let part = 0; part < parts.length; part++) {
    const inner = tableOfVector(table, parts, part)
    read(inner, byteField(inner, 6), geometry, depth + 1)
  }
}

function readSurface(table: FlatbufferTable, code: number, geometry: FlatGeometry, depth: number): void {
  const before = geometry.lineEnds.length
  if (code === 10) readParts(table, geometry, depth, readCurvePart)
  else readVertices(table, geometry, true)
  if (geometry.lineEnds.length > before) endPart(geometry)
}

/** A line; of a compound curve its pieces, each of which begins where the one before ended. */
function readCurvePart(table: FlatbufferTable, code: number, geometry: FlatGeometry, depth: number): void {
  readCurve(table, code, geometry, depth)
  endLine(geometry)
}

function readCurve(table: FlatbufferTable, code: number, geometry: FlatGeometry, depth: number): void {
  if (depth > maxDepth) throw damagedBuffer()
  const first = geometry.vertexCount
  if (code !== 9) {
    addRun(table, geometry)
    if (code === 8) addArcs(geometry, first)
    return
  }
  const parts = vectorField(table, 7, 4)
  for (let part = 0; part < parts.length; part++) {
    const inner = tableOfVector(table, parts, part)
    if (geometry.vertexCount > first) geometry.vertexCount--
    readCurve(inner, byteField(inner, 6), geometry, depth + 1)
  }
}

/** All vertices of the table; `hasLines`: they are cut into lines or rings. */
function readVertices(table: FlatbufferTable, geometry: FlatGeometry, hasLines: boolean): void {
  const offset = geometry.vertexCount
  addRun(table, geometry)
  if (!hasLines || geometry.vertexCount === offset) return
  const ends = vectorField(table, 0, 4)
  if (ends.length === 0) endLine(geometry)
  else addEnds(table, ends, geometry, offset)
}

function addEnds(table: FlatbufferTable, ends: FlatbufferVector, geometry: FlatGeometry, offset: number): void {
  let before = offset
  for (let line = 0; line < ends.length; line++) {
    const end = offset + table.view.getUint32(ends.at + line * 4, true)
    if (end < before || end > geometry.vertexCount) throw damagedBuffer()
    geometry.lineEnds.push(end)
    before = end
  }
}

function addRun(table: FlatbufferTable, geometry: FlatGeometry): void {
  const { view } = table
  const xy = vectorField(table, 1, 8)
  const z = vectorField(table, 2, 8)
  const count = xy.length >> 1
  if (z.length > 0 && z.length < count) throw damagedBuffer()
  if (z.length > 0) geometry.hasZ = true
  if (vectorField(table, 3, 8).length > 0) geometry.isMeasured = true
  spend(table, count * 16)
  reserveVertices(geometry, count)
  for (let vertex = 0; vertex < count; vertex++) {
    const at = xy.at + vertex * 16
    const height = z.length > 0 ? view.getFloat64(z.at + vertex * 8, true) : 0
    addVertex(geometry, view.getFloat64(at, true), view.getFloat64(at + 8, true), height)
  }
}
