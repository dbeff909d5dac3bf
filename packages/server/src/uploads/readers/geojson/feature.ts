import * as codes from '../../../geometry/character-codes.ts'
import type { GeometryWriter } from '../../../geometry/ewkb-writer.ts'
import type { GeometryType } from '../../../geometry/geometry-type.ts'
import { readPlainNumber } from '../../../geometry/plain-number.ts'
import { createFieldList, type FieldList, kind } from '../engine/type-inference.ts'
import { maxFields } from '../reader.ts'
import { type Cursor, peek, skipString, skipValue, token } from './cursor.ts'
import { createLayout, type Layout } from './layout.ts'

// As constants of this module: V8 does not fold imported ones.
const { lowerCaseBit, lowerE, nine, quote, zero } = codes

/** Where the id of a feature lies among its values. */
export const idPlace = maxFields

/** The feature read last: where its values lie in the window, and its geometry. */
export type Feature = {
  fields: FieldList
  /** Where the value of a field lies; a kind of null means that it has none. The last place is that of the feature's id. */
  starts: Int32Array
  ends: Int32Array
  kinds: Uint8Array
  /** What a value tells of its field, as bits of `kind`, where that was seen while reading it; else `unknownKind`. */
  told: Int16Array
  /** The values that are plain numbers, and the days of dates; NaN for others. */
  numbers: Float64Array
  geometry: GeometryWriter
  shape: GeometryType | 'missing' | 'invalid'
  readonly layout: Layout
}

export function createFeature(geometry: GeometryWriter, isFast: boolean): Feature {
  return {
    fields: createFieldList(),
    starts: new Int32Array(maxFields + 1),
    ends: new Int32Array(maxFields + 1),
    kinds: new Uint8Array(maxFields + 1),
    told: new Int16Array(maxFields + 1),
    numbers: new Float64Array(maxFields + 1),
    geometry,
    shape: 'missing',
    layout: createLayout(isFast),
  }
}

/** A feature has no values until they are read. */
export function clearValues({ kinds, told, fields }: Feature): void {
  for (let place = 0; place < fields.names.length; place++) kinds[place] = told[place] = token.null
  kinds[idPlace] = told[idPlace] = token.null
}

export const unknownKind = -1

/** Shorter integers are of four bytes. */
const shortInteger = 10

/** Steps over the value here and notes where it lies. */
export function readValue(cursor: Cursor, feature: Feature, place: number): void {
  const byte = peek(cursor)
  const start = cursor.at
  // The commonest without the detour.
  if (byte === quote) readString(cursor, feature, place)
  else if (byte <= nine) readNumber(cursor, feature, place)
  else {
    feature.kinds[place] = skipValue(cursor)
    feature.told[place] = unknownKind
  }
  feature.starts[place] = start
  feature.ends[place] = cursor.at
}

/** What begins with a digit may be a date, and an escape may stand for one. */
function readString(cursor: Cursor, feature: Feature, place: number): void {
  const first = cursor.bytes[cursor.at + 1] as number
  const found = skipString(cursor)
  feature.kinds[place] = found
  feature.numbers[place] = Number.NaN
  feature.told[place] = found === token.text && (first > nine || first < zero) ? kind.text : unknownKind
}

/** Of a number that may go on behind the window, what must follow it is missing then. */
function readNumber(cursor: Cursor, feature: Feature, place: number): void {
  const { bytes, at: start } = cursor
  const value = readPlainNumber(bytes, cursor)
  feature.numbers[place] = value
  if (!Number.isNaN(value) && ((bytes[cursor.at] as number) | lowerCaseBit) !== lowerE) {
    const isShort = cursor.at - start < shortInteger
    feature.kinds[place] = cursor.hasPoint ? token.float : token.integer
    feature.told[place] = cursor.hasPoint ? kind.float : isShort ? kind.int4 : unknownKind
    return
  }
  feature.numbers[place] = Number.NaN
  cursor.at = start
  feature.kinds[place] = skipValue(cursor)
  feature.told[place] = unknownKind
}
