import * as codes from '../../../../query/geometry/encoding/character-codes.ts'
import {
  closeRing,
  type GeometryWriter,
  repeatPosition,
  setCount,
  writeCount,
  writeEmptyPosition,
  writeHeader,
  writePosition,
} from '../../../../query/geometry/encoding/ewkb-writer.ts'
import { readPlainNumber } from '../../../../query/geometry/encoding/plain-number.ts'
import type { GeometryType } from '../../../../query/geometry/geometry-type.ts'
import { fail, hasNext, incomplete, isDigit, peek, type TextCursor, take } from './cursor.ts'

// As constants of this module: V8 does not fold imported ones, which made numbers 1.25 times slower to read.
const { closeBracket, comma, minus, openBracket, period, space } = codes

/** Thrown for what may be JSON but is no geometry. */
export const noGeometry = new Error('No geometry')

/** Reads the coordinates of a geometry of this type, header included, into EWKB. */
export function readCoordinates(cursor: TextCursor, writer: GeometryWriter, type: GeometryType): void {
  writeHeader(writer, type)
  if (type === 'Point') readPoint(cursor, writer)
  else if (type === 'LineString') readLine(cursor, writer)
  else if (type === 'Polygon') readPolygon(cursor, writer)
  else {
    const part = type === 'MultiPoint' ? 'Point' : type === 'MultiLineString' ? 'LineString' : 'Polygon'
    readParts(cursor, writer, () => readCoordinates(cursor, writer, part))
  }
}

/** Reads a list, each part by itself, and writes how many there were before them. */
export function readParts(cursor: TextCursor, writer: GeometryWriter, readPart: () => void): void {
  const countAt = writeCount(writer, 0)
  let count = 0
  if (!open(cursor)) return
  do {
    readPart()
    count++
  } while (hasNext(cursor, closeBracket))
  setCount(writer, countAt, count)
}

function deviate(cursor: TextCursor): never {
  if (cursor.at >= cursor.end) fail(cursor, 'a geometry')
  throw noGeometry
}

/** Steps into a list; false when it was empty and is left already. */
function open(cursor: TextCursor): boolean {
  if (peek(cursor) !== openBracket) deviate(cursor)
  cursor.at++
  if (peek(cursor) !== closeBracket) return true
  cursor.at++
  return false
}

function readPoint(cursor: TextCursor, writer: GeometryWriter): void {
  const start = cursor.at
  const isEmpty = !open(cursor)
  if (isEmpty) writeEmptyPosition(writer)
  else {
    cursor.at = start
    readPosition(cursor, writer)
  }
}

function readLine(cursor: TextCursor, writer: GeometryWriter): void {
  const countAt = writeCount(writer, 0)
  const count = readPositions(cursor, writer)
  if (count === 1) throw noGeometry
  setCount(writer, countAt, count)
}

function readPolygon(cursor: TextCursor, writer: GeometryWriter): void {
  const countAt = writeCount(writer, 0)
  let count = 0
  if (!open(cursor)) return
  do {
    if (readRing(cursor, writer)) count++
  } while (hasNext(cursor, closeBracket))
  setCount(writer, countAt, count)
}

/** False for a ring of nothing, which is none. */
function readRing(cursor: TextCursor, writer: GeometryWriter): boolean {
  const countAt = writeCount(writer, 0)
  const positions = readPositions(cursor, writer)
  if (positions === 0) {
    writer.length = countAt
    return false
  }
  const count = closeRing(writer, countAt + 4, positions) || widenSplinter(writer, countAt + 4, positions)
  if (count === 0) throw noGeometry
  setCount(writer, countAt, count)
  return true
}

/** A ring there and back gets the fourth position that PostGIS asks for: one such splinter must not cost a feature all its areas. */
function widenSplinter(writer: GeometryWriter, start: number, positions: number): number {
  if (positions !== 3) return 0
  repeatPosition(writer, start)
  return 4
}

function readPositions(cursor: TextCursor, writer: GeometryWriter): number {
  if (!open(cursor)) return 0
  let count = 0
  do {
    count += readPlainPositions(cursor, writer)
    readPosition(cursor, writer)
    count++
  } while (hasNext(cursor, closeBracket))
  return count
}

/** Reads positions of two plain numbers without blanks, as long as another follows them; that one is left. */
function readPlainPositions(cursor: TextCursor, writer: GeometryWriter): number {
  const { bytes } = cursor
  let start = cursor.at
  let count = 0
  while (bytes[start] === openBracket) {
    cursor.at = start + 1
    const x = readPlainNumber(bytes, cursor)
    if (bytes[cursor.at] !== comma) break
    cursor.at++
    const y = readPlainNumber(bytes, cursor)
    if (bytes[cursor.at] !== closeBracket || bytes[cursor.at + 1] !== comma || Number.isNaN(x) || Number.isNaN(y)) break
    writePosition(writer, x, y, 0)
    start = cursor.at + 2
    count++
  }
  cursor.at = start
  return count
}

function readPosition(cursor: TextCursor, writer: GeometryWriter): void {
  if (peek(cursor) !== openBracket) deviate(cursor)
  cursor.at++
  const x = readOrdinate(cursor)
  if (peek(cursor) !== comma) deviate(cursor)
  cursor.at++
  const y = readOrdinate(cursor)
  let z = 0
  if (peek(cursor) === comma) {
    cursor.at++
    z = readOrdinate(cursor)
    writer.sawZ = true
    while (peek(cursor) === comma) {
      cursor.at++
      writer.sawM = true
      readOrdinate(cursor)
    }
  }
  take(cursor, closeBracket)
  writePosition(writer, x, y, z)
}

/** What follows must be a comma, a bracket or a blank, or it is no plain number. */
function readOrdinate(cursor: TextCursor): number {
  peek(cursor)
  const { bytes, at: start } = cursor
  const value = readPlainNumber(bytes, cursor)
  const byte = bytes[cursor.at] as number
  if ((byte === comma || byte === closeBracket || byte <= space) && cursor.at < cursor.end && !Number.isNaN(value))
    return value
  const hasNothing = byte !== period && cursor.at === (bytes[start] === minus ? start + 1 : start)
  if (hasNothing || cursor.at >= cursor.end) deviate(cursor)
  return readUnusualOrdinate(cursor, start)
}

const numberText = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

function readUnusualOrdinate(cursor: TextCursor, start: number): number {
  const { bytes } = cursor
  let at = cursor.at
  while (isDigit(bytes[at] as number) || '+-eE.'.includes(String.fromCharCode(bytes[at] as number))) at++
  cursor.at = at
  if (at >= cursor.end && !cursor.isLast) throw incomplete
  const text = bytes.toString('latin1', start, at)
  const value = Number(text)
  if (!numberText.test(text) || !Number.isFinite(value)) deviate(cursor)
  return value
}
