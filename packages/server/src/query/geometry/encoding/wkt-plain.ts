// The fast path of WKT: reads bytes straight into EWKB, and leaves unusual spellings to wkt.ts.

import type { GeometryType } from '../geometry-type.ts'
import * as codes from './character-codes.ts'
import {
  beginGeometry,
  closeRing,
  type GeometryWriter,
  setCount,
  writeCount,
  writeHeader,
  writePosition,
} from './ewkb-writer.ts'
import { type NumberCursor, readPlainNumber } from './plain-number.ts'

// As constants of this module: V8 does not fold imported ones, which made numbers 1.25 times slower to read.
const { closeParenthesis, comma, openParenthesis, space, upperZ } = codes

type PlainType = Exclude<GeometryType, 'GeometryCollection'>

/** The longer names first: some begin like others. */
const names = (['MultiLineString', 'MultiPolygon', 'MultiPoint', 'LineString', 'Polygon', 'Point'] as const).map(
  (type): [PlainType, Buffer] => [type, Buffer.from(type.toUpperCase())],
)

/**
 * Writes the WKT here as EWKB, when it is written as most programs write it, and steps over it. Undefined for all that is
 * written otherwise, geometries or not.
 */
export function readPlainWkt(bytes: Buffer, cursor: NumberCursor, writer: GeometryWriter): GeometryType | undefined {
  const type = readName(bytes, cursor)
  if (type === undefined) return undefined
  skipBlanks(bytes, cursor)
  if (bytes[cursor.at] === upperZ) cursor.at++
  skipBlanks(bytes, cursor)
  beginGeometry(writer)
  return readBracketed(bytes, cursor, writer, type) ? type : undefined
}

function readName(bytes: Buffer, cursor: NumberCursor): PlainType | undefined {
  for (const [type, name] of names) {
    let index = 0
    while (index < name.length && bytes[cursor.at + index] === name[index]) index++
    if (index < name.length) continue
    cursor.at += index
    return type
  }
  return undefined
}

function skipBlanks(bytes: Buffer, cursor: NumberCursor): void {
  while (bytes[cursor.at] === space) cursor.at++
}

function readBracketed(bytes: Buffer, cursor: NumberCursor, writer: GeometryWriter, type: PlainType): boolean {
  writeHeader(writer, type)
  if (type === 'Point')
    return opens(bytes, cursor) && readPosition(bytes, cursor, writer) && bytes[cursor.at++] === closeParenthesis
  if (type === 'LineString') return readLine(bytes, cursor, writer) > 1
  if (type === 'Polygon') return readList(bytes, cursor, writer, readRing)
  if (type === 'MultiPoint') return readPoints(bytes, cursor, writer)
  if (type === 'MultiLineString') return readList(bytes, cursor, writer, readMemberLine)
  return readList(bytes, cursor, writer, readMemberPolygon)
}

type ReadItem = (bytes: Buffer, cursor: NumberCursor, writer: GeometryWriter) => boolean

const readMemberLine: ReadItem = (bytes, cursor, writer) => readBracketed(bytes, cursor, writer, 'LineString')
const readMemberPolygon: ReadItem = (bytes, cursor, writer) => readBracketed(bytes, cursor, writer, 'Polygon')

const readMemberPoint: ReadItem = (bytes, cursor, writer) => readBracketed(bytes, cursor, writer, 'Point')
const readBarePoint: ReadItem = (bytes, cursor, writer) => {
  writeHeader(writer, 'Point')
  return readPosition(bytes, cursor, writer)
}

/** The points of a multipoint may have brackets of their own, all or none. */
function readPoints(bytes: Buffer, cursor: NumberCursor, writer: GeometryWriter): boolean {
  return readList(bytes, cursor, writer, bytes[cursor.at + 1] === openParenthesis ? readMemberPoint : readBarePoint)
}

function opens(bytes: Buffer, cursor: NumberCursor): boolean {
  if (bytes[cursor.at] !== openParenthesis) return false
  cursor.at++
  return true
}

/** A list in brackets, behind how many there are in it. */
function readList(bytes: Buffer, cursor: NumberCursor, writer: GeometryWriter, read: ReadItem): boolean {
  if (!opens(bytes, cursor)) return false
  const countAt = writeCount(writer, 0)
  let count = 0
  do {
    skipBlanks(bytes, cursor)
    if (!read(bytes, cursor, writer)) return false
    count++
  } while (bytes[cursor.at++] === comma)
  setCount(writer, countAt, count)
  return bytes[cursor.at - 1] === closeParenthesis
}

/** Answers how many positions there are; 0 when it cannot be read. */
function readLine(bytes: Buffer, cursor: NumberCursor, writer: GeometryWriter): number {
  const countAt = writeCount(writer, 0)
  if (!opens(bytes, cursor)) return 0
  let count = 0
  do {
    skipBlanks(bytes, cursor)
    if (!readPosition(bytes, cursor, writer)) return 0
    count++
  } while (bytes[cursor.at++] === comma)
  setCount(writer, countAt, count)
  return bytes[cursor.at - 1] === closeParenthesis ? count : 0
}

const readRing: ReadItem = (bytes, cursor, writer) => {
  const countAt = writer.length
  const positions = readLine(bytes, cursor, writer)
  if (positions === 0) return false
  const count = closeRing(writer, countAt + 4, positions)
  setCount(writer, countAt, count)
  return count > 0
}

/** Two numbers or three, with one blank between. */
function readPosition(bytes: Buffer, cursor: NumberCursor, writer: GeometryWriter): boolean {
  const x = readPlainNumber(bytes, cursor)
  if (bytes[cursor.at] !== space) return false
  cursor.at++
  const y = readPlainNumber(bytes, cursor)
  if (Number.isNaN(x) || Number.isNaN(y)) return false
  if (bytes[cursor.at] !== space) {
    writePosition(writer, x, y, 0)
    return true
  }
  cursor.at++
  const z = readPlainNumber(bytes, cursor)
  if (Number.isNaN(z)) return false
  writer.sawZ = true
  writePosition(writer, x, y, z)
  return true
}
