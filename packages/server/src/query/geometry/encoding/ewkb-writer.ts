// The EWKB writer: headers, counts and positions, for the readers that find them one after the other.

import { type Extent, type GeometryColumnType, type GeometryType, geometryCode } from '../geometry-type.ts'
import { type ByteWriter, createByteWriter, reserve } from './byte-writer.ts'

/** One geometry under construction as EWKB, and what was seen while writing it. */
export type GeometryWriter = ByteWriter & {
  srid: number
  hasZ: boolean
  /** With measures, which only geometries in flat arrays have. */
  hasM: boolean
  isMulti: boolean
  sawZ: boolean
  /** The source of this geometry has measures, kept or not. */
  sawM: boolean
  /** Of all geometries. */
  closedRings: number
  /** How many geometries were curved, and are made of straight lines. */
  curvedCount: number
  /** West, south, east and north of this geometry. */
  box: Float64Array
  /** The type codes of ISO in place of EWKB's flags. */
  isIso: boolean
}

/** What EWKB says of a geometry besides its type. */
export const ewkbFlag = { z: 0x80000000, m: 0x40000000, srid: 0x20000000 } as const

/** ISO adds them to the code of a type with Z, and with M. */
const [isoHeight, isoMeasure] = [1000, 2000]

/** Without a column to write for, as in a scan, geometries have no SRID and no Z. */
export function createGeometryWriter(
  { srid, hasZ, isMulti }: GeometryColumnType = { srid: 0, hasZ: false, isMulti: false },
): GeometryWriter {
  return {
    ...createByteWriter(4096),
    srid,
    hasZ,
    hasM: false,
    isMulti,
    sawZ: false,
    sawM: false,
    closedRings: 0,
    curvedCount: 0,
    box: new Float64Array(4),
    isIso: false,
  }
}

export function beginGeometry(writer: GeometryWriter): void {
  writer.length = 0
  writer.sawZ = false
  writer.sawM = false
  const { box } = writer
  box[0] = box[1] = Infinity
  box[2] = box[3] = -Infinity
}

/** Starts a geometry; the outermost carries the SRID and is made multi when the column is. */
export function writeHeader(writer: GeometryWriter, type: GeometryType): void {
  reserve(writer, 32)
  const isOuter = writer.length === 0
  const code = geometryCode[type]
  if (isOuter && writer.isMulti && code <= 3) {
    writeCode(writer, code + 3, true)
    writeCount(writer, 1)
    writeCode(writer, code, false)
  } else writeCode(writer, code, isOuter)
}

function writeCode(writer: GeometryWriter, code: number, isOuter: boolean): void {
  const { view, length } = writer
  const hasSrid = isOuter && writer.srid !== 0
  view.setUint8(length, 1)
  const height = writer.hasZ ? (writer.isIso ? isoHeight : ewkbFlag.z) : 0
  const measure = writer.hasM ? (writer.isIso ? isoMeasure : ewkbFlag.m) : 0
  view.setUint32(length + 1, ((code + height + measure) | (hasSrid ? ewkbFlag.srid : 0)) >>> 0, true)
  if (hasSrid) view.setUint32(length + 5, writer.srid, true)
  writer.length += hasSrid ? 9 : 5
}

/** Writes a count, to be corrected by `setCount` at the place answered. */
export function writeCount(writer: GeometryWriter, count: number): number {
  reserve(writer, 4)
  writer.view.setUint32(writer.length, count, true)
  writer.length += 4
  return writer.length - 4
}

export function setCount(writer: GeometryWriter, at: number, count: number): void {
  writer.view.setUint32(at, count, true)
}

export function writePosition(writer: GeometryWriter, x: number, y: number, z: number): void {
  reserve(writer, 24)
  const { view, length, box } = writer
  view.setFloat64(length, x, true)
  view.setFloat64(length + 8, y, true)
  if (writer.hasZ) view.setFloat64(length + 16, z, true)
  writer.length = length + (writer.hasZ ? 24 : 16)
  if (x < box[0]) box[0] = x
  if (y < box[1]) box[1] = y
  if (x > box[2]) box[2] = x
  if (y > box[3]) box[3] = y
}

/** A point without coordinates, as PostGIS writes it. */
export function writeEmptyPosition(writer: GeometryWriter): void {
  reserve(writer, 32)
  const ordinates = 2 + Number(writer.hasZ) + Number(writer.hasM)
  for (let ordinate = 0; ordinate < ordinates; ordinate++) {
    writer.view.setFloat64(writer.length, Number.NaN, true)
    writer.length += 8
  }
}

/** Whether x and y are the same in both places. */
export function isSamePosition(view: DataView, a: number, b: number): boolean {
  return (
    view.getFloat64(a, true) === view.getFloat64(b, true) &&
    view.getFloat64(a + 8, true) === view.getFloat64(b + 8, true)
  )
}

/** Closes the ring that starts here; answers how many positions it has, 0 when it cannot be a ring. */
export function closeRing(writer: GeometryWriter, start: number, count: number): number {
  const last = start + (count - 1) * (writer.hasZ ? 24 : 16)
  if (isSamePosition(writer.view, start, last)) return count < 4 ? 0 : count
  if (count < 3) return 0
  repeatPosition(writer, start)
  return count + 1
}

/** Writes the position that stands there once more. */
export function repeatPosition(writer: GeometryWriter, start: number): void {
  const size = writer.hasZ ? 24 : 16
  reserve(writer, size)
  writer.bytes.copy(writer.bytes, writer.length, start, start + size)
  writer.length += size
}

/** Widens an extent by the geometry written last; an empty one has none. */
export function widenExtent(extent: Extent | undefined, box: Float64Array): Extent | undefined {
  const west = box[0]
  const south = box[1]
  const east = box[2]
  const north = box[3]
  if (west > east) return extent
  if (!extent) return [west, south, east, north]
  if (west < extent[0]) extent[0] = west
  if (south < extent[1]) extent[1] = south
  if (east > extent[2]) extent[2] = east
  if (north > extent[3]) extent[3] = north
  return extent
}
