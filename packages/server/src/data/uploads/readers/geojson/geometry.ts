import { closeBrace, colon, openBrace } from '../../../../query/geometry/encoding/character-codes.ts'
import { beginGeometry, type GeometryWriter, writeHeader } from '../../../../query/geometry/encoding/ewkb-writer.ts'
import type { GeometryType } from '../../../../query/geometry/geometry-type.ts'
import { geometryCode } from '../../../../query/geometry/geometry-type.ts'
import { noGeometry, readCoordinates, readParts } from './coordinates.ts'
import { fail, hasNext, isString, peek, skipString, skipValue, type TextCursor, take } from './cursor.ts'

const maxDepth = 32

/** Reads a geometry object into EWKB and answers its type; undefined for JSON that is no geometry. */
export function readGeometry(cursor: TextCursor, writer: GeometryWriter): GeometryType | undefined {
  peek(cursor)
  const start = cursor.at
  beginGeometry(writer)
  try {
    return readObject(cursor, writer, 0)
  } catch (error) {
    if (error !== noGeometry) throw error
    // It must still be JSON.
    cursor.at = start
    skipValue(cursor)
    return undefined
  }
}

/** What lies in the object of a geometry: its type, and where its content starts when that came before the type. */
type Parts = { type: GeometryType | undefined; coordinatesAt: number; geometriesAt: number; isWritten: boolean }

function readObject(cursor: TextCursor, writer: GeometryWriter, depth: number): GeometryType {
  if (peek(cursor) !== openBrace || depth > maxDepth) {
    if (cursor.at >= cursor.end) fail(cursor, 'a geometry')
    throw noGeometry
  }
  cursor.at++
  const parts: Parts = { type: undefined, coordinatesAt: -1, geometriesAt: -1, isWritten: false }
  if (peek(cursor) === closeBrace) throw noGeometry
  do readMember(cursor, writer, parts, depth)
  while (hasNext(cursor, closeBrace))
  if (parts.type === undefined) throw noGeometry
  if (!parts.isWritten) readContentAgain(cursor, writer, parts, depth)
  return parts.type
}

function readMember(cursor: TextCursor, writer: GeometryWriter, parts: Parts, depth: number): void {
  peek(cursor)
  const keyStart = cursor.at
  skipString(cursor)
  const keyEnd = cursor.at
  const { bytes } = cursor
  take(cursor, colon)
  peek(cursor)
  if (isString(bytes, keyStart, keyEnd, 'type')) parts.type = readType(cursor)
  else if (isString(bytes, keyStart, keyEnd, 'coordinates')) readContent(cursor, writer, parts, depth, 'coordinatesAt')
  else if (isString(bytes, keyStart, keyEnd, 'geometries')) readContent(cursor, writer, parts, depth, 'geometriesAt')
  else skipValue(cursor)
}

const types = Object.keys(geometryCode) as GeometryType[]

function readType(cursor: TextCursor): GeometryType | undefined {
  const start = cursor.at
  skipValue(cursor)
  for (const type of types) if (isString(cursor.bytes, start, cursor.at, type)) return type
  return undefined
}

function readContent(
  cursor: TextCursor,
  writer: GeometryWriter,
  parts: Parts,
  depth: number,
  place: 'coordinatesAt' | 'geometriesAt',
): void {
  const isRepeated = parts[place] >= 0
  parts[place] = cursor.at
  const isOfType = place === 'geometriesAt' ? parts.type === 'GeometryCollection' : parts.type !== 'GeometryCollection'
  if (isRepeated || !isOfType || parts.type === undefined) {
    // Read later, when the type and the last of several are known.
    if (isRepeated && parts.isWritten) throw noGeometry
    skipValue(cursor)
  } else {
    parts.isWritten = true
    writeContent(cursor, writer, parts.type, depth)
  }
}

function readContentAgain(cursor: TextCursor, writer: GeometryWriter, parts: Parts, depth: number): void {
  const after = cursor.at
  const at = parts.type === 'GeometryCollection' ? parts.geometriesAt : parts.coordinatesAt
  if (at < 0 || parts.type === undefined) throw noGeometry
  cursor.at = at
  writeContent(cursor, writer, parts.type, depth)
  cursor.at = after
}

function writeContent(cursor: TextCursor, writer: GeometryWriter, type: GeometryType, depth: number): void {
  if (type === 'GeometryCollection') {
    writeHeader(writer, type)
    readParts(cursor, writer, () => readObject(cursor, writer, depth + 1))
  } else readCoordinates(cursor, writer, type)
}
