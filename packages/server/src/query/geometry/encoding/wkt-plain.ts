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
import { type NumberPlace, readPlainNumber } from './plain-number.ts'

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
export function readPlainWkt(bytes: Buffer, place: NumberPlace, writer: GeometryWriter): GeometryType | undefined {
  const type = readName(bytes, place)
  if (type === undefined) return undefined
  skipBlanks(bytes, place)
  if (bytes[place.at] === upperZ) place.at++
  skipBlanks(bytes, place)
  beginGeometry(writer)
  return readBracketed(bytes, place, writer, type) ? type : undefined
}

function readName(bytes: Buffer, place: NumberPlace): PlainType | undefined {
  for (const [type, name] of names) {
    let index = 0
    while (index < name.length && bytes[place.at + index] === name[index]) index++
    if (index < name.length) continue
    place.at += index
    return type
  }
  return undefined
}

function skipBlanks(bytes: Buffer, place: NumberPlace): void {
  while (bytes[place.at] === space) place.at++
}

function readBracketed(bytes: Buffer, place: NumberPlace, writer: GeometryWriter, type: PlainType): boolean {
  writeHeader(writer, type)
  if (type === 'Point')
    return opens(bytes, place) && readPosition(bytes, place, writer) && bytes[place.at++] === closeParenthesis
  if (type === 'LineString') return readLine(bytes, place, writer) > 1
  if (type === 'Polygon') return readList(bytes, place, writer, readRing)
  if (type === 'MultiPoint') return readPoints(bytes, place, writer)
  if (type === 'MultiLineString') return readList(bytes, place, writer, readMemberLine)
  return readList(bytes, place, writer, readMemberPolygon)
}

type ReadItem = (bytes: Buffer, place: NumberPlace, writer: GeometryWriter) => boolean

const readMemberLine: ReadItem = (bytes, place, writer) => readBracketed(bytes, place, writer, 'LineString')
const readMemberPolygon: ReadItem = (bytes, place, writer) => readBracketed(bytes, place, writer, 'Polygon')

const readMemberPoint: ReadItem = (bytes, place, writer) => readBracketed(bytes, place, writer, 'Point')
const readBarePoint: ReadItem = (bytes, place, writer) => {
  writeHeader(writer, 'Point')
  return readPosition(bytes, place, writer)
}

/** The points of a multipoint may have brackets of their own, all or none. */
function readPoints(bytes: Buffer, place: NumberPlace, writer: GeometryWriter): boolean {
  return readList(bytes, place, writer, bytes[place.at + 1] === openParenthesis ? readMemberPoint : readBarePoint)
}

function opens(bytes: Buffer, place: NumberPlace): boolean {
  if (bytes[place.at] !== openParenthesis) return false
  place.at++
  return true
}

/** A list in brackets, behind how many there are in it. */
function readList(bytes: Buffer, place: NumberPlace, writer: GeometryWriter, read: ReadItem): boolean {
  if (!opens(bytes, place)) return false
  const countAt = writeCount(writer, 0)
  let count = 0
  do {
    skipBlanks(bytes, place)
    if (!read(bytes, place, writer)) return false
    count++
  } while (bytes[place.at++] === comma)
  setCount(writer, countAt, count)
  return bytes[place.at - 1] === closeParenthesis
}

/** Answers how many positions there are; 0 when it cannot be read. */
function readLine(bytes: Buffer, place: NumberPlace, writer: GeometryWriter): number {
  const countAt = writeCount(writer, 0)
  if (!opens(bytes, place)) return 0
  let count = 0
  do {
    skipBlanks(bytes, place)
    if (!readPosition(bytes, place, writer)) return 0
    count++
  } while (bytes[place.at++] === comma)
  setCount(writer, countAt, count)
  return bytes[place.at - 1] === closeParenthesis ? count : 0
}

const readRing: ReadItem = (bytes, place, writer) => {
  const countAt = writer.length
  const found = readLine(bytes, place, writer)
  if (found === 0) return false
  const count = closeRing(writer, countAt + 4, found)
  setCount(writer, countAt, count)
  return count > 0
}

/** Two numbers or three, with one blank between. */
function readPosition(bytes: Buffer, place: NumberPlace, writer: GeometryWriter): boolean {
  const x = readPlainNumber(bytes, place)
  if (bytes[place.at] !== space) return false
  place.at++
  const y = readPlainNumber(bytes, place)
  if (Number.isNaN(x) || Number.isNaN(y)) return false
  if (bytes[place.at] !== space) {
    writePosition(writer, x, y, 0)
    return true
  }
  place.at++
  const z = readPlainNumber(bytes, place)
  if (Number.isNaN(z)) return false
  writer.sawZ = true
  writePosition(writer, x, y, z)
  return true
}
