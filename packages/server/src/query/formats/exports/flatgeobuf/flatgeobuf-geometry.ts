import type { Builder } from 'flatbuffers'
import type { FlatGeometry } from '../../../geometry/flat/flat-geometry.ts'
import { geometryCode } from '../../../geometry/geometry-type.ts'
import { type FlatgeobufShape, isEmptyPoint } from './flatgeobuf-shape.ts'

const field = { ends: 0, xy: 1, z: 2, m: 3, type: 6, parts: 7 } as const

/** What all geometries of the file have. */
type Kept = Pick<FlatgeobufShape, 'hasZ' | 'hasM'>

/**
 * Writes a geometry as a table of FlatGeobuf, with heights and measures or without, and answers where it is: 0 for nowhere, which an empty
 * point is, because the format has none and readers stop at it.
 */
export function writeFlatGeometry(builder: Builder, geometry: FlatGeometry, kept: Kept): number {
  const { type, members, lineEnds, partEnds, vertexCount } = geometry
  if (isEmptyPoint(geometry)) return 0
  if (type === geometryCode.GeometryCollection) {
    const parts = members.map((member) => writeFlatGeometry(builder, member, kept))
    return writeParts(
      builder,
      type,
      parts.filter((part) => part !== 0),
    )
  }
  const whole = { from: 0, to: lineEnds.length, kept }
  if (type === geometryCode.MultiPolygon) {
    const polygons = partEnds.map((to, part) => ({ from: partEnds[part - 1] ?? 0, to, kept }))
    return writeParts(
      builder,
      type,
      polygons.map((lines) => writeLines(builder, geometry, geometryCode.Polygon, lines)),
    )
  }
  const isCut = type === geometryCode.Polygon || type === geometryCode.MultiLineString
  return isCut
    ? writeLines(builder, geometry, type, whole)
    : writeRun(builder, geometry, { from: 0, to: vertexCount, kept, type })
}

function writeParts(builder: Builder, type: number, parts: readonly number[]): number {
  builder.startVector(4, parts.length, 4)
  for (const part of parts.toReversed()) builder.addOffset(part)
  const vector = builder.endVector()
  builder.startObject(8)
  builder.addFieldInt8(field.type, type, 0)
  builder.addFieldOffset(field.parts, vector, 0)
  return builder.endObject()
}

type Lines = { readonly from: number; readonly to: number; readonly kept: Kept }

/** Rings of a polygon, or lines: their vertices in one run, and where each ends. A single ring needs no ends. */
function writeLines(builder: Builder, geometry: FlatGeometry, type: number, { from, to, kept }: Lines): number {
  const { lineEnds } = geometry
  const first = lineEnds[from - 1] ?? 0
  let ends = 0
  if (to - from > 1 || type === geometryCode.MultiLineString) {
    builder.startVector(4, to - from, 4)
    for (let line = to - 1; line >= from; line--) builder.addInt32((lineEnds[line] ?? 0) - first)
    ends = builder.endVector()
  }
  return writeRun(builder, geometry, { from: first, to: lineEnds[to - 1] ?? first, kept, type, ends })
}

type Run = {
  readonly from: number
  readonly to: number
  readonly kept: Kept
  readonly type: number
  readonly ends?: number
}

function writeRun(builder: Builder, { xy, z, m }: FlatGeometry, { from, to, kept, type, ends = 0 }: Run): number {
  const positions = doubles(builder, xy, from * 2, to * 2)
  const heights = kept.hasZ ? doubles(builder, z, from, to) : 0
  const measures = kept.hasM ? doubles(builder, m ?? new Float64Array(to), from, to) : 0
  builder.startObject(8)
  if (ends !== 0) builder.addFieldOffset(field.ends, ends, 0)
  builder.addFieldOffset(field.xy, positions, 0)
  if (kept.hasZ) builder.addFieldOffset(field.z, heights, 0)
  if (kept.hasM) builder.addFieldOffset(field.m, measures, 0)
  builder.addFieldInt8(field.type, type, 0)
  return builder.endObject()
}

function doubles(builder: Builder, values: Float64Array, from: number, to: number): number {
  builder.startVector(8, to - from, 8)
  for (let index = to - 1; index >= from; index--) builder.addFloat64(values[index] as number)
  return builder.endVector()
}
