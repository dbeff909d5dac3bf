import { type Cursor, fail, hasNext, incomplete, isDigit, peek, take } from './geojson-cursor.ts'
import type { GeometryType } from './reader.ts'
import {
  closeRing,
  type GeometryWriter,
  setCount,
  writeCount,
  writeEmptyPosition,
  writeHeader,
  writePosition,
} from './wkb.ts'

/** Thrown for what may be JSON but is no geometry. */
export const noGeometry = new Error('No geometry')

/** Reads the coordinates of a geometry of this type, header included, into EWKB. */
export function readCoordinates(cursor: Cursor, writer: GeometryWriter, type: GeometryType): void {
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
export function readParts(cursor: Cursor, writer: GeometryWriter, readPart: () => void): void {
  const countAt = writeCount(writer, 0)
  let count = 0
  if (!open(cursor)) return
  do {
    readPart()
    count++
  } while (hasNext(cursor, 93))
  setCount(writer, countAt, count)
}

function deviate(cursor: Cursor): never {
  if (cursor.at >= cursor.end) fail(cursor, 'a geometry')
  throw noGeometry
}

/** Steps into a list; false when it was empty and is left already. */
function open(cursor: Cursor): boolean {
  if (peek(cursor) !== 91) deviate(cursor)
  cursor.at++
  if (peek(cursor) !== 93) return true
  cursor.at++
  return false
}

function readPoint(cursor: Cursor, writer: GeometryWriter): void {
  const start = cursor.at
  if (open(cursor)) {
    cursor.at = start
    readPosition(cursor, writer)
  } else writeEmptyPosition(writer)
}

function readLine(cursor: Cursor, writer: GeometryWriter): void {
  const countAt = writeCount(writer, 0)
  const count = readPositions(cursor, writer)
  if (count === 1) throw noGeometry
  setCount(writer, countAt, count)
}

function readPolygon(cursor: Cursor, writer: GeometryWriter): void {
  const countAt = writeCount(writer, 0)
  let count = 0
  if (!open(cursor)) return
  do {
    if (readRing(cursor, writer)) count++
  } while (hasNext(cursor, 93))
  setCount(writer, countAt, count)
}

/** False for a ring of nothing, which is none. */
function readRing(cursor: Cursor, writer: GeometryWriter): boolean {
  const countAt = writeCount(writer, 0)
  const found = readPositions(cursor, writer)
  if (found === 0) {
    writer.length = countAt
    return false
  }
  const count = closeRing(writer, countAt + 4, found)
  if (count === 0) throw noGeometry
  setCount(writer, countAt, count)
  return true
}

function readPositions(cursor: Cursor, writer: GeometryWriter): number {
  if (!open(cursor)) return 0
  let count = 0
  do {
    readPosition(cursor, writer)
    count++
  } while (hasNext(cursor, 93))
  return count
}

function readPosition(cursor: Cursor, writer: GeometryWriter): void {
  if (peek(cursor) !== 91) deviate(cursor)
  cursor.at++
  const x = readOrdinate(cursor)
  if (peek(cursor) !== 44) deviate(cursor)
  cursor.at++
  const y = readOrdinate(cursor)
  let z = 0
  if (peek(cursor) === 44) {
    cursor.at++
    z = readOrdinate(cursor)
    writer.sawZ = true
    while (peek(cursor) === 44) {
      cursor.at++
      readOrdinate(cursor)
    }
  }
  take(cursor, 93)
  writePosition(writer, x, y, z)
}

const powersOfTen = Array.from({ length: 23 }, (_, power) => 10 ** power)

/** A number read in one go: digits below 2^53 over a power of ten are exact, the rest is left to JavaScript. */
function readOrdinate(cursor: Cursor): number {
  let byte = peek(cursor)
  const { bytes, at: start } = cursor
  let at = byte === 45 ? start + 1 : start
  const firstDigit = at
  let mantissa = 0
  byte = bytes[at] as number
  while (byte >= 48 && byte <= 57) {
    mantissa = mantissa * 10 + byte - 48
    byte = bytes[++at] as number
  }
  const intEnd = at
  let scale = 0
  if (byte === 46) {
    byte = bytes[++at] as number
    while (byte >= 48 && byte <= 57) {
      mantissa = mantissa * 10 + byte - 48
      byte = bytes[++at] as number
    }
    scale = at - intEnd - 1
  }
  cursor.at = at
  if (at >= cursor.end || at === firstDigit) deviate(cursor)
  // What follows must be a comma, a bracket or a blank, and neither 1. nor .5 nor 01 are numbers of JSON.
  const isPlain = (byte === 44 || byte === 93 || byte <= 32) && (at === intEnd || scale > 0) && intEnd > firstDigit
  const hasNoLeadingZero = bytes[firstDigit] !== 48 || intEnd === firstDigit + 1
  if (isPlain && hasNoLeadingZero && mantissa < 9007199254740992 && scale <= 22)
    return scaled(mantissa, scale, bytes[start] === 45)
  return readUnusualOrdinate(cursor, start)
}

function scaled(mantissa: number, scale: number, isNegative: boolean): number {
  const value = mantissa / (powersOfTen[scale] as number)
  return isNegative ? -value : value
}

const numberText = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

function readUnusualOrdinate(cursor: Cursor, start: number): number {
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
