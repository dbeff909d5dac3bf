// The records of a .shp file.
import type { FlatGeometry } from '../../../geometry/flat/flat-geometry.ts'
import { geometryCode } from '../../../geometry/geometry-type.ts'

/** A Shapefile has one kind of shape; with heights its code is 10 more. */
export const shapeCode = { none: 0, point: 1, line: 3, polygon: 5, multipoint: 8 } as const
export type ShapeKind = keyof typeof shapeCode
export const heightCode = 10

export type ShapefileShape = {
  readonly kind: ShapeKind
  readonly hasZ: boolean
  readonly geometry: FlatGeometry | undefined
}

const kinds: Readonly<Record<number, ShapeKind>> = {
  [geometryCode.Point]: 'point',
  [geometryCode.MultiPoint]: 'multipoint',
  [geometryCode.LineString]: 'line',
  [geometryCode.MultiLineString]: 'line',
  [geometryCode.Polygon]: 'polygon',
  [geometryCode.MultiPolygon]: 'polygon',
}

/** A geometry as shapes: one, but of a collection those of its members. An empty one is a shape of nothing. */
export function shapesOf(geometry: FlatGeometry | undefined): ShapefileShape[] {
  if (geometry?.type === geometryCode.GeometryCollection) {
    const shapes = geometry.members.flatMap(shapesOf).filter(({ kind }) => kind !== 'none')
    return shapes.length > 0 ? shapes : [nothing]
  }
  if (!geometry || geometry.vertexCount === 0) return [nothing]
  return [{ kind: kinds[geometry.type] ?? 'none', hasZ: geometry.hasZ, geometry }]
}

const nothing: ShapefileShape = { kind: 'none', hasZ: false, geometry: undefined }

/** West, south, east, north, and the heights. */
export type ShapeBox = [number, number, number, number, number, number]

export const emptyBox = (): ShapeBox => [Infinity, Infinity, -Infinity, -Infinity, Infinity, -Infinity]

/** The content of a record. `bounds` is widened by it. */
export function shapeRecord({ kind, hasZ, geometry }: ShapefileShape, bounds: ShapeBox): Buffer {
  if (!geometry || kind === 'none') return Buffer.alloc(4)
  const box = boxOf(geometry)
  widen(bounds, box)
  const code = shapeCode[kind] + (hasZ ? heightCode : 0)
  if (kind === 'point') return pointRecord(geometry, code, hasZ)
  const lines = kind === 'multipoint' ? [] : geometry.lineEnds
  const count = geometry.vertexCount
  const begin = headBytes + (kind === 'multipoint' ? 0 : 4 + lines.length * 4)
  const record = Buffer.alloc(begin + count * 16 + (hasZ ? 2 * (16 + count * 8) : 0))
  record.writeInt32LE(code, 0)
  for (let edge = 0; edge < 4; edge++) record.writeDoubleLE(box[edge] ?? 0, 4 + edge * 8)
  if (kind !== 'multipoint') record.writeInt32LE(lines.length, 36)
  record.writeInt32LE(count, kind === 'multipoint' ? 36 : 40)
  for (const line of lines.keys()) record.writeInt32LE(lines[line - 1] ?? 0, 44 + line * 4)
  const vertices = kind === 'polygon' ? turned(geometry) : everyVertex(geometry)
  writePositions(record, geometry, vertices, begin)
  if (hasZ) writeHeights(record, geometry, vertices, begin + count * 16, box)
  return record
}

/** Type, box and number of vertices. */
const headBytes = 40

function writePositions(record: Buffer, { xy }: FlatGeometry, vertices: readonly number[], at: number): void {
  for (const [place, vertex] of vertices.entries()) {
    record.writeDoubleLE(xy[vertex * 2] ?? 0, at + place * 16)
    record.writeDoubleLE(xy[vertex * 2 + 1] ?? 0, at + place * 16 + 8)
  }
}

/** Heights, and measures that are none. */
function writeHeights(
  record: Buffer,
  { z }: FlatGeometry,
  vertices: readonly number[],
  at: number,
  box: ShapeBox,
): void {
  record.writeDoubleLE(box[4], at)
  record.writeDoubleLE(box[5], at + 8)
  for (const [place, vertex] of vertices.entries()) record.writeDoubleLE(z[vertex] ?? 0, at + 16 + place * 8)
  const measures = at + 16 + vertices.length * 8
  for (let place = measures; place < record.length; place += 8) record.writeDoubleLE(noMeasure, place)
}

/** Less than -10^38 means that there is none. */
const noMeasure = -1e39

function pointRecord({ xy, z }: FlatGeometry, code: number, hasZ: boolean): Buffer {
  const record = Buffer.alloc(hasZ ? 36 : 20)
  record.writeInt32LE(code, 0)
  record.writeDoubleLE(xy[0] ?? 0, 4)
  record.writeDoubleLE(xy[1] ?? 0, 12)
  if (hasZ) record.writeDoubleLE(z[0] ?? 0, 20)
  if (hasZ) record.writeDoubleLE(noMeasure, 28)
  return record
}

const everyVertex = ({ vertexCount }: FlatGeometry): number[] =>
  Array.from({ length: vertexCount }, (_, vertex) => vertex)

/** Each ring from its end to its beginning: outer rings come anticlockwise and must be clockwise, holes the other way. */
function turned({ lineEnds }: FlatGeometry): number[] {
  return lineEnds.flatMap((end, ring) => {
    const start = lineEnds[ring - 1] ?? 0
    return Array.from({ length: end - start }, (_, offset) => end - 1 - offset)
  })
}

function boxOf({ xy, z, vertexCount }: FlatGeometry): ShapeBox {
  const box = emptyBox()
  for (let vertex = 0; vertex < vertexCount; vertex++) {
    const [x = 0, y = 0, height = 0] = [xy[vertex * 2], xy[vertex * 2 + 1], z[vertex]]
    widen(box, [x, y, x, y, height, height])
  }
  return box
}

function widen(box: ShapeBox, [west, south, east, north, low, high]: ShapeBox): void {
  box[0] = Math.min(box[0], west)
  box[1] = Math.min(box[1], south)
  box[2] = Math.max(box[2], east)
  box[3] = Math.max(box[3], north)
  box[4] = Math.min(box[4], low)
  box[5] = Math.max(box[5], high)
}
