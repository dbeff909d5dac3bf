import {
  addVertex,
  endLine,
  endPart,
  type FlatGeometry,
  reserveVertices,
  resetGeometry,
} from '../../../../query/geometry/flat/flat-geometry.ts'
import { geometryCode } from '../../../../query/geometry/geometry-type.ts'
import { ReadFault } from '../reader.ts'
import { groupRings } from './rings.ts'

const multiPatch = 31

function damaged(): ReadFault {
  return new ReadFault('invalid_file', 'A record of the .shp file is damaged.')
}

/**
 * Reads the content of a record, which lies in the view from `at` to `end`, into the geometry. False when the record
 * has none. Of measures only whether there are any is kept.
 */
export function readShape(view: DataView, at: number, end: number, geometry: FlatGeometry): boolean {
  if (end - at < 4) throw damaged()
  const code = view.getInt32(at, true)
  if (code === 0) return false
  const kind = code % 10
  const hasZ = (code > 10 && code < 20) || code === multiPatch
  if (kind === 1 && code !== multiPatch) readPoint(view, at + 4, end, geometry, hasZ)
  else if (kind === 8) readMultiPoint(view, at, end, geometry, hasZ)
  else if (kind === 3) readParts(view, at, end, geometry, hasZ, false)
  else if (kind === 5) readParts(view, at, end, geometry, hasZ, true)
  else if (code === multiPatch) readMultiPatch(view, at, end, geometry)
  else throw new ReadFault('invalid_file', `The .shp file has a shape of the unknown type ${code}.`)
  geometry.isMeasured = code > 10 && code !== multiPatch && hasMeasures(view, at, end, kind, hasZ)
  return geometry.vertexCount > 0
}

function readPoint(view: DataView, at: number, end: number, geometry: FlatGeometry, hasZ: boolean): void {
  if (end - at < (hasZ ? 24 : 16)) throw damaged()
  resetGeometry(geometry, geometryCode.Point, hasZ)
  addVertex(geometry, view.getFloat64(at, true), view.getFloat64(at + 8, true), hasZ ? height(view, at + 16) : 0)
}

/** Whether a value of the block behind that of the heights is one. Where there are heights, zeros stand for none, too. */
function hasMeasures(view: DataView, at: number, end: number, kind: number, hasZ: boolean): boolean {
  const [start, count] = measuresAt(view, at, kind, hasZ)
  for (let place = start; place + 8 <= end && place < start + count * 8; place += 8) {
    const measure = view.getFloat64(place, true)
    if (measure > -1e38 && !(hasZ && measure === 0)) return true
  }
  return false
}

/** Where the measures begin that a shape may have, and how many they are. */
function measuresAt(view: DataView, at: number, kind: number, hasZ: boolean): [start: number, count: number] {
  if (kind === 1) return [at + (hasZ ? 28 : 20), 1]
  const count = view.getUint32(at + (kind === 8 ? 36 : 40), true)
  const vertices = kind === 8 ? at + 40 : at + 44 + view.getUint32(at + 36, true) * 4
  const blocks = vertices + count * 16 + 16
  return [hasZ ? blocks + count * 8 + 16 : blocks, count]
}

/** Less than -10^38 means none. */
function height(view: DataView, at: number): number {
  const z = view.getFloat64(at, true)
  return z < -1e38 ? 0 : z
}

function readMultiPoint(view: DataView, at: number, end: number, geometry: FlatGeometry, hasZ: boolean): void {
  if (end - at < 40) throw damaged()
  const count = view.getUint32(at + 36, true)
  resetGeometry(geometry, geometryCode.MultiPoint, hasZ)
  readVertices(view, at + 40, end, geometry, count, hasZ)
}

/** Vertices, then (after their range) as many heights. Some writers leave the heights out. */
function readVertices(
  view: DataView,
  at: number,
  end: number,
  geometry: FlatGeometry,
  count: number,
  hasZ: boolean,
): void {
  if (count * 16 > end - at) throw damaged()
  reserveVertices(geometry, count)
  const { xy, z, vertexCount: first } = geometry
  const heights = at + count * 16 + 16
  const hasHeights = hasZ && heights + count * 8 <= end
  for (let index = 0; index < count * 2; index++) xy[first * 2 + index] = view.getFloat64(at + index * 8, true)
  for (let index = 0; index < count; index++) z[first + index] = hasHeights ? height(view, heights + index * 8) : 0
  geometry.vertexCount += count
}

/** The first vertex of every part, and the place behind these numbers. */
function readPartStarts(view: DataView, at: number, end: number): { starts: number[]; count: number } {
  if (end - at < 44) throw damaged()
  const [parts, count] = [view.getUint32(at + 36, true), view.getUint32(at + 40, true)]
  if (parts * 4 > end - at - 44) throw damaged()
  const starts: number[] = []
  for (let part = 0, before = 0; part < parts; part++) {
    const start = view.getUint32(at + 44 + part * 4, true)
    if (start > count || start < before) throw damaged()
    starts.push(start)
    before = start
  }
  return { starts, count }
}

function readParts(
  view: DataView,
  at: number,
  end: number,
  geometry: FlatGeometry,
  hasZ: boolean,
  isArea: boolean,
): void {
  const { starts, count } = readPartStarts(view, at, end)
  resetGeometry(geometry, isArea ? geometryCode.Polygon : geometryCode.LineString, hasZ)
  if (starts.length === 0) return
  readVertices(view, at + 44 + starts.length * 4, end, geometry, count, hasZ)
  for (let part = 1; part < starts.length; part++) geometry.lineEnds.push(starts[part] as number)
  endLine(geometry)
  if (isArea) groupRings(geometry)
  else if (starts.length > 1) geometry.type = geometryCode.MultiLineString
}

const triangleStrip = 0
const triangleFan = 1
const outerRing = 2
const firstRing = 4

/** Surfaces in space become polygons: strips and fans one for each triangle. */
function readMultiPatch(view: DataView, at: number, end: number, geometry: FlatGeometry): void {
  const { starts, count } = readPartStarts(view, at, end)
  const kindsAt = at + 44 + starts.length * 4
  const verticesAt = kindsAt + starts.length * 4
  const heightsAt = verticesAt + count * 16 + 16
  if (heightsAt + count * 8 > end) throw damaged()
  resetGeometry(geometry, geometryCode.MultiPolygon, true)
  const add = (vertex: number) => {
    const place = verticesAt + vertex * 16
    addVertex(
      geometry,
      view.getFloat64(place, true),
      view.getFloat64(place + 8, true),
      height(view, heightsAt + vertex * 8),
    )
  }
  for (const [part, start] of starts.entries()) {
    const stop = starts[part + 1] ?? count
    const kind = view.getInt32(kindsAt + part * 4, true)
    if (kind === triangleStrip || kind === triangleFan) addTriangles(geometry, add, kind, start, stop)
    else addRing(geometry, add, kind, start, stop)
  }
  if (geometry.lineEnds.length > (geometry.partEnds.at(-1) ?? 0)) endPart(geometry)
}

function addTriangles(
  geometry: FlatGeometry,
  add: (vertex: number) => void,
  kind: number,
  start: number,
  stop: number,
): void {
  if (geometry.lineEnds.length > (geometry.partEnds.at(-1) ?? 0)) endPart(geometry)
  for (let vertex = start; vertex + 2 < stop; vertex++) {
    const first = kind === triangleFan ? start : vertex
    for (const corner of [first, vertex + 1, vertex + 2, first]) add(corner)
    endLine(geometry)
    endPart(geometry)
  }
}

/** An outer or first ring begins another polygon. */
function addRing(
  geometry: FlatGeometry,
  add: (vertex: number) => void,
  kind: number,
  start: number,
  stop: number,
): void {
  const isBeginning = kind === outerRing || kind === firstRing
  if (isBeginning && geometry.lineEnds.length > (geometry.partEnds.at(-1) ?? 0)) endPart(geometry)
  for (let vertex = start; vertex < stop; vertex++) add(vertex)
  endLine(geometry)
}
