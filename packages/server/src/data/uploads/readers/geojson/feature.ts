import * as codes from '../../../../query/geometry/encoding/character-codes.ts'
import type { GeometryWriter } from '../../../../query/geometry/encoding/ewkb-writer.ts'
import { readPlainNumber } from '../../../../query/geometry/encoding/plain-number.ts'
import type { GeometryType } from '../../../../query/geometry/geometry-type.ts'
import { daysIn } from '../engine/temporal.ts'
import { createFieldList, type FieldList, kind } from '../engine/type-inference.ts'
import { maxFields } from '../reader.ts'
import { peek, skipString, skipValue, type TextCursor, token } from './cursor.ts'
import { createLayout, type Layout } from './layout.ts'

// As constants of this module: V8 does not fold imported ones.
const { lowerCaseBit, lowerE, minus, nine, quote, zero } = codes
const { float, integer, text } = token

/** Where the id of a feature lies among its values. */
export const idSlot = maxFields

/** The feature read last: where its values lie in the window, and its geometry. */
export type FeatureBuffer = {
  fields: FieldList
  /** Where the value of a field lies; a token of null means that it has none. The last place is that of the feature's id. */
  starts: Int32Array
  ends: Int32Array
  tokens: Int32Array
  /** The values that are plain numbers, and the days of dates; NaN for others. */
  numbers: Float64Array
  geometry: GeometryWriter
  shape: GeometryType | 'missing' | 'invalid'
  readonly layout: Layout
}

export function createFeature(geometry: GeometryWriter, isFast: boolean): FeatureBuffer {
  return {
    fields: createFieldList(),
    starts: new Int32Array(maxFields + 1),
    ends: new Int32Array(maxFields + 1),
    tokens: new Int32Array(maxFields + 1),
    numbers: new Float64Array(maxFields + 1),
    geometry,
    shape: 'missing',
    layout: createLayout(isFast),
  }
}

/** A feature has no values until they are read. */
export function clearValues({ tokens, fields }: FeatureBuffer): void {
  for (let place = 0; place < fields.names.length; place++) tokens[place] = token.null
  tokens[idSlot] = token.null
}

/** Above the bits of a token are those of `kind`, where these were seen while reading the value. */
export const tokenBits = 4
export const tokenMask = 15
const seenText = text | (kind.text << tokenBits)
const seenDate = text | (kind.date << tokenBits)
const seenFloat = float | (kind.float << tokenBits)
const seenInteger = integer | (kind.int4 << tokenBits)

/** Shorter integers are of four bytes. */
const shortInteger = 10

/** Steps over the value here and notes where it lies. */
export function readValue(cursor: TextCursor, feature: FeatureBuffer, place: number): void {
  const byte = peek(cursor)
  const start = cursor.at
  // The commonest without the detour.
  if (byte === quote) readString(cursor, feature, place)
  else if (byte <= nine) readNumber(cursor, feature, place)
  else feature.tokens[place] = skipValue(cursor)
  feature.starts[place] = start
  feature.ends[place] = cursor.at
}

/** What begins with a digit may be a date or a number, and an escape may stand for one. */
function readString(cursor: TextCursor, feature: FeatureBuffer, place: number): void {
  const first = cursor.bytes[cursor.at + 1] as number
  const isText = first > nine || (first < zero && first !== minus)
  if (!isText && readDate(cursor, feature, place)) return
  const nameToken = skipString(cursor)
  feature.tokens[place] = isText && nameToken === text ? seenText : nameToken
  feature.numbers[place] = Number.NaN
}

const dateLength = 10

/** Steps over a date in quotes; false when it is none. It does not go on behind the window, where there is a 0. */
function readDate(cursor: TextCursor, feature: FeatureBuffer, place: number): boolean {
  const start = cursor.at + 1
  const end = start + dateLength
  const days = cursor.bytes[end] === quote ? daysIn(cursor.bytes, start, end) : undefined
  if (days === undefined) return false
  feature.tokens[place] = seenDate
  feature.numbers[place] = days
  cursor.at = end + 1
  return true
}

/** Of a number that may go on behind the window, what must follow it is missing then. */
function readNumber(cursor: TextCursor, feature: FeatureBuffer, place: number): void {
  const { bytes, at: start } = cursor
  const value = readPlainNumber(bytes, cursor)
  feature.numbers[place] = value
  if (!Number.isNaN(value) && ((bytes[cursor.at] as number) | lowerCaseBit) !== lowerE) {
    feature.tokens[place] = cursor.hasPoint ? seenFloat : cursor.at - start < shortInteger ? seenInteger : integer
    return
  }
  feature.numbers[place] = Number.NaN
  cursor.at = start
  feature.tokens[place] = skipValue(cursor)
}
