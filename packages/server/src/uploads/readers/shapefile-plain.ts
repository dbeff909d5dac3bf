import { ensure, type RowWriter } from './copy-binary.ts'
import { type GeometrySummary, ogc, summariseBox } from './flat-geometry.ts'
import { type GeometryShape, writeCount, writeHeader } from './flat-geometry-write.ts'
import { isSamePosition } from './wkb.ts'

/** A point, or one sound line or ring, whose vertices are as EWKB has them: where they lie in the window of the .shp. */
export type PlainShape = { type: number; at: number; vertexCount: number }

export const createPlainShape = (): PlainShape => ({ type: 0, at: 0, vertexCount: 0 })

const pointContent = 20
const partContent = 44

/**
 * Finds the shape that lies in the view from `start` to `end`, and takes it into account. False where it is none that is
 * plain; nothing is said about it then. With measures it may be plain: they lie behind the vertices.
 */
export function findPlainShape(
  view: DataView,
  start: number,
  end: number,
  shape: PlainShape,
  summary: GeometrySummary,
): boolean {
  if (end - start < pointContent) return false
  const code = view.getInt32(start, true)
  const kind = code > 20 ? code - 20 : code
  if (kind === 1) place(shape, ogc.point, start + 4, 1)
  else if ((kind !== 3 && kind !== 5) || !placePart(view, start, end, shape, kind === 5)) return false
  return noteVertices(view, shape, summary)
}

function place(shape: PlainShape, type: number, at: number, vertexCount: number): void {
  shape.type = type
  shape.at = at
  shape.vertexCount = vertexCount
}

/** Of one part only, long enough, and closed where it has to be. */
function placePart(view: DataView, start: number, end: number, shape: PlainShape, isArea: boolean): boolean {
  const at = start + partContent + 4
  if (at > end || view.getUint32(start + 36, true) !== 1 || view.getUint32(start + partContent, true) !== 0)
    return false
  const count = view.getUint32(start + 40, true)
  if (count < (isArea ? 4 : 2) || count * 16 > end - at) return false
  const last = at + (count - 1) * 16
  if (isArea && !isSamePosition(view, at, last)) return false
  place(shape, isArea ? ogc.polygon : ogc.lineString, at, count)
  return true
}

/** False when one is not finite. */
function noteVertices(view: DataView, { type, at: start, vertexCount }: PlainShape, summary: GeometrySummary): boolean {
  const end = start + vertexCount * 16
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  let nothing = 0
  for (let at = start; at < end; at += 16) {
    const x = view.getFloat64(at, true)
    const y = view.getFloat64(at + 8, true)
    // Of whatever is not finite that is not 0.
    nothing += x - x + (y - y)
    if (x < west) west = x
    if (x > east) east = x
    if (y < south) south = y
    if (y > north) north = y
  }
  if (nothing !== 0) return false
  summariseBox(summary, type, west, south, east, north)
  return true
}

/** Up to so many vertices a loop is quicker than a call. */
const fewVertices = 16

/** The shape as a field of COPY BINARY: EWKB of two dimensions. */
export function writePlainShape(
  writer: RowWriter,
  { bytes, view }: { readonly bytes: Buffer; readonly view: DataView },
  { type, at, vertexCount }: PlainShape,
  { srid, isMulti }: GeometryShape,
): void {
  const size = vertexCount * 16
  ensure(writer, 64 + size)
  const start = writer.length
  writer.length += 4
  if (isMulti) {
    writeHeader(writer, type + 3, false, srid)
    writeCount(writer, 1)
  }
  writeHeader(writer, type, false, isMulti ? 0 : srid)
  if (type === ogc.polygon) writeCount(writer, 1)
  if (type !== ogc.point) writeCount(writer, vertexCount)
  if (vertexCount > fewVertices) writer.bytes.set(bytes.subarray(at, at + size), writer.length)
  else
    for (let done = 0; done < size; done += 8)
      writer.view.setFloat64(writer.length + done, view.getFloat64(at + done, true), true)
  writer.length += size
  writer.view.setInt32(start, writer.length - start - 4)
}
