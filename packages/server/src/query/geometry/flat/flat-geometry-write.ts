// Flat arrays → EWKB.
import { reserve } from '../encoding/byte-writer.ts'
import {
  beginGeometry,
  type GeometryWriter,
  writeCount,
  writeEmptyPosition,
  writeHeader,
} from '../encoding/ewkb-writer.ts'
import { type GeometryType, geometryCode, geometryTypes } from '../geometry-type.ts'
import type { FlatGeometry } from './flat-geometry.ts'
import { mended } from './flat-geometry-mend.ts'

/** Mends a geometry in flat arrays and writes it as EWKB; `invalid` when nothing of it can be loaded. */
export function writeFlatGeometry(writer: GeometryWriter, geometry: FlatGeometry): GeometryType | 'invalid' {
  const sound = mended(geometry, writer)
  if (!sound) return 'invalid'
  beginGeometry(writer)
  if (hasCurves(geometry)) writer.curvedCount++
  writer.sawM = isMeasured(geometry)
  writeBody(writer, sound, writer.isMulti && sound.type <= geometryCode.Polygon ? sound.type + 3 : sound.type)
  return geometryTypes[sound.type - 1] ?? 'invalid'
}

/** Writes a geometry in flat arrays as ISO WKB, exactly as it is, but without measures for formats that have none. */
export function writeIsoWkb(writer: GeometryWriter, geometry: FlatGeometry, keepsMeasures = false): void {
  writer.isIso = true
  writer.hasZ = hasHeights(geometry)
  writer.hasM = keepsMeasures && hasMeasures(geometry)
  beginGeometry(writer)
  writeBody(writer, geometry, geometry.type)
}

/** Whether arcs of it were replaced by straight lines. */
export const hasCurves = ({ isCurved, members }: FlatGeometry): boolean => isCurved || members.some(hasCurves)

export const isMeasured = (geometry: FlatGeometry): boolean => geometry.isMeasured || geometry.members.some(isMeasured)

export const hasMeasures = ({ m, members }: FlatGeometry): boolean => m !== undefined || members.some(hasMeasures)

export const hasHeights = ({ hasZ, members }: FlatGeometry): boolean => hasZ || members.some(hasHeights)

function writeBody(writer: GeometryWriter, geometry: FlatGeometry, type: number): void {
  const { vertexCount, lineEnds, members } = geometry
  writer.sawZ ||= geometry.hasZ
  writeHeader(writer, geometryTypes[type - 1] ?? 'GeometryCollection')
  if (type === geometryCode.Point) writePoint(writer, geometry)
  else if (type === geometryCode.LineString) writeVertices(writer, geometry, 0, vertexCount)
  else if (type === geometryCode.Polygon) writeRings(writer, geometry, 0, lineEnds.length)
  else if (type === geometryCode.MultiPoint) writePoints(writer, geometry)
  else if (type === geometryCode.MultiLineString) writeLines(writer, geometry)
  else if (type === geometryCode.MultiPolygon) writePolygons(writer, geometry)
  else {
    writeCount(writer, members.length)
    for (const member of members) writeBody(writer, member, member.type)
  }
}

function writePoint(writer: GeometryWriter, geometry: FlatGeometry): void {
  if (geometry.vertexCount > 0) writeRun(writer, geometry, 0, 1)
  else writeEmptyPosition(writer)
}

/** Vertices without their count. */
function writeRun(writer: GeometryWriter, { xy, z, m }: FlatGeometry, start: number, end: number): void {
  reserve(writer, (end - start) * 32)
  const { view, hasZ, hasM, box } = writer
  const stride = 16 + Number(hasZ) * 8 + Number(hasM) * 8
  // A member of a collection may lack what another has.
  const measures = hasM ? (m ?? new Float64Array(end)) : undefined
  let [west, south, east, north] = [box[0], box[1], box[2], box[3]]
  let at = writer.length
  for (let vertex = start; vertex < end; vertex++) {
    const x = xy[vertex * 2]
    const y = xy[vertex * 2 + 1]
    view.setFloat64(at, x, true)
    view.setFloat64(at + 8, y, true)
    if (hasZ) view.setFloat64(at + 16, z[vertex], true)
    if (measures) view.setFloat64(at + stride - 8, measures[vertex], true)
    at += stride
    if (x < west) west = x
    if (x > east) east = x
    if (y < south) south = y
    if (y > north) north = y
  }
  writer.length = at
  box[0] = west
  box[1] = south
  box[2] = east
  box[3] = north
}

function writeVertices(writer: GeometryWriter, geometry: FlatGeometry, start: number, end: number): void {
  writeCount(writer, end - start)
  writeRun(writer, geometry, start, end)
}

function writeRings(writer: GeometryWriter, geometry: FlatGeometry, first: number, end: number): void {
  writeCount(writer, end - first)
  for (let ring = first; ring < end; ring++)
    writeVertices(writer, geometry, geometry.lineEnds[ring - 1] ?? 0, geometry.lineEnds[ring] ?? 0)
}

function writePoints(writer: GeometryWriter, geometry: FlatGeometry): void {
  writeCount(writer, geometry.vertexCount)
  for (let vertex = 0; vertex < geometry.vertexCount; vertex++) {
    writeHeader(writer, 'Point')
    writeRun(writer, geometry, vertex, vertex + 1)
  }
}

/** A promoted line without vertices has no lines. */
function writeLines(writer: GeometryWriter, geometry: FlatGeometry): void {
  const ends = geometry.vertexCount === 0 ? [] : geometry.lineEnds
  writeCount(writer, ends.length)
  let start = 0
  for (const end of ends) {
    writeHeader(writer, 'LineString')
    writeVertices(writer, geometry, start, end)
    start = end
  }
}

function writePolygons(writer: GeometryWriter, geometry: FlatGeometry): void {
  const ends = geometry.vertexCount === 0 ? [] : geometry.partEnds
  writeCount(writer, ends.length)
  let first = 0
  for (const end of ends) {
    writeHeader(writer, 'Polygon')
    writeRings(writer, geometry, first, end)
    first = end
  }
}
