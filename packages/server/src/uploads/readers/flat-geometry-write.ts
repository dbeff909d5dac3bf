import { ensure, type RowWriter } from './copy-binary.ts'
import { type FlatGeometry, ogc } from './flat-geometry.ts'
import { ewkbFlag } from './wkb.ts'

/** How a column wants its geometries. */
export type GeometryShape = { readonly srid: number; readonly hasZ: boolean; readonly isMulti: boolean }

/** The geometry as a field of COPY BINARY: EWKB, little-endian. */
export function writeGeometry(writer: RowWriter, geometry: FlatGeometry, shape: GeometryShape): void {
  ensure(writer, 4)
  const start = writer.length
  writer.length += 4
  const promoted = shape.isMulti && geometry.type <= ogc.polygon ? geometry.type + 3 : geometry.type
  writeBody(writer, geometry, promoted, shape.hasZ, shape.srid)
  writer.view.setInt32(start, writer.length - start - 4)
}

function writeBody(writer: RowWriter, geometry: FlatGeometry, type: number, hasZ: boolean, srid: number): void {
  const { vertexCount, lineEnds, partEnds, members } = geometry
  ensure(writer, 64 + vertexCount * (hasZ ? 29 : 21) + lineEnds.length * 9 + partEnds.length * 9)
  writeHeader(writer, type, hasZ, srid)
  if (type === ogc.point) writePoint(writer, geometry, hasZ)
  else if (type === ogc.lineString) writeVertices(writer, geometry, 0, vertexCount, hasZ)
  else if (type === ogc.polygon) writeRings(writer, geometry, 0, lineEnds.length, hasZ)
  else if (type === ogc.multiPoint) writePoints(writer, geometry, hasZ)
  else if (type === ogc.multiLineString) writeLines(writer, geometry, hasZ)
  else if (type === ogc.multiPolygon) writePolygons(writer, geometry, hasZ)
  else {
    writeCount(writer, members.length)
    for (const member of members) writeBody(writer, member, member.type, hasZ, 0)
  }
}

export function writeHeader(writer: RowWriter, type: number, hasZ: boolean, srid: number): void {
  const { view, length } = writer
  view.setUint8(length, 1)
  view.setUint32(length + 1, (type | (hasZ ? ewkbFlag.z : 0) | (srid ? ewkbFlag.srid : 0)) >>> 0, true)
  if (srid) view.setInt32(length + 5, srid, true)
  writer.length = length + (srid ? 9 : 5)
}

export function writeCount(writer: RowWriter, count: number): void {
  writer.view.setUint32(writer.length, count, true)
  writer.length += 4
}

function writePoint(writer: RowWriter, geometry: FlatGeometry, hasZ: boolean): void {
  if (geometry.vertexCount > 0) writeRun(writer, geometry, 0, 1, hasZ)
  else {
    for (let at = 0; at < (hasZ ? 3 : 2); at++) writer.view.setFloat64(writer.length + at * 8, Number.NaN, true)
    writer.length += hasZ ? 24 : 16
  }
}

/** Vertices without their count. */
function writeRun(writer: RowWriter, { xy, z }: FlatGeometry, start: number, end: number, hasZ: boolean): void {
  const { view } = writer
  let at = writer.length
  for (let vertex = start; vertex < end; vertex++) {
    view.setFloat64(at, xy[vertex * 2] as number, true)
    view.setFloat64(at + 8, xy[vertex * 2 + 1] as number, true)
    at += 16
    if (hasZ) {
      view.setFloat64(at, z[vertex] as number, true)
      at += 8
    }
  }
  writer.length = at
}

function writeVertices(writer: RowWriter, geometry: FlatGeometry, start: number, end: number, hasZ: boolean): void {
  writeCount(writer, end - start)
  writeRun(writer, geometry, start, end, hasZ)
}

function writeRings(writer: RowWriter, geometry: FlatGeometry, first: number, end: number, hasZ: boolean): void {
  writeCount(writer, end - first)
  for (let ring = first; ring < end; ring++)
    writeVertices(writer, geometry, geometry.lineEnds[ring - 1] ?? 0, geometry.lineEnds[ring] ?? 0, hasZ)
}

function writePoints(writer: RowWriter, geometry: FlatGeometry, hasZ: boolean): void {
  writeCount(writer, geometry.vertexCount)
  for (let vertex = 0; vertex < geometry.vertexCount; vertex++) {
    writeHeader(writer, ogc.point, hasZ, 0)
    writeRun(writer, geometry, vertex, vertex + 1, hasZ)
  }
}

/** A promoted line without vertices has no lines. */
function writeLines(writer: RowWriter, geometry: FlatGeometry, hasZ: boolean): void {
  const { lineEnds, vertexCount } = geometry
  const ends = vertexCount === 0 ? [] : lineEnds
  writeCount(writer, ends.length)
  let start = 0
  for (const end of ends) {
    writeHeader(writer, ogc.lineString, hasZ, 0)
    writeVertices(writer, geometry, start, end, hasZ)
    start = end
  }
}

function writePolygons(writer: RowWriter, geometry: FlatGeometry, hasZ: boolean): void {
  const ends = geometry.vertexCount === 0 ? [] : geometry.partEnds
  writeCount(writer, ends.length)
  let first = 0
  for (const end of ends) {
    writeHeader(writer, ogc.polygon, hasZ, 0)
    writeRings(writer, geometry, first, end, hasZ)
    first = end
  }
}
