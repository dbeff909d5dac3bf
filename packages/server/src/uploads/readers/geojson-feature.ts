import { noGeometry, readCoordinates } from './geojson-coordinates.ts'
import {
  type Cursor,
  fail,
  hasNext,
  isString,
  peek,
  skipString,
  skipValue,
  take,
  textIn,
  token,
} from './geojson-cursor.ts'
import { readGeometry } from './geojson-geometry.ts'
import {
  coordinatesPlace,
  createPatterns,
  type FixedText,
  fixedText,
  idPlace,
  learnPattern,
  type Pattern,
  type Patterns,
  stepOver,
} from './geojson-pattern.ts'
import { readPlainNumber } from './plain-number.ts'
import { type GeometryType, maxFields } from './reader.ts'
import { createFieldList, type FieldList, fieldIndex } from './type-inference.ts'
import { beginGeometry, type GeometryWriter } from './wkb.ts'
import { isGeometryType } from './wkb-geometry.ts'

/** The feature read last: where its values lie in the window, and its geometry. */
export type Feature = {
  fields: FieldList
  /** The keys of the fields with their quotes and colons, to recognise them without making strings. */
  keys: FixedText[]
  /** Where the value of a field lies; a kind of null means that it has none. The last place is that of the feature's id. */
  starts: Int32Array
  ends: Int32Array
  kinds: Uint8Array
  /** The values that are plain numbers; NaN for other numbers. */
  numbers: Float64Array
  geometry: GeometryWriter
  geometryState: 'none' | 'valid' | 'invalid'
  geometryType: GeometryType | undefined
  patterns: Patterns
}

export function createFeature(geometry: GeometryWriter, fields: FieldList = createFieldList()): Feature {
  return {
    fields,
    keys: fields.names.map(writtenKey),
    starts: new Int32Array(maxFields + 1),
    ends: new Int32Array(maxFields + 1),
    kinds: new Uint8Array(maxFields + 1),
    numbers: new Float64Array(maxFields + 1),
    geometry,
    geometryState: 'none',
    geometryType: undefined,
    patterns: createPatterns(),
  }
}

/** Reads a feature, or a bare geometry as one without properties. False when the object is neither. */
export function readFeature(cursor: Cursor, feature: Feature): boolean {
  if (peek(cursor) !== 123) fail(cursor, 'a feature')
  if (readPatterned(cursor, feature)) return true
  const start = cursor.at
  feature.kinds.fill(token.null, 0, feature.fields.names.length)
  feature.kinds[idPlace] = token.null
  feature.geometryState = 'none'
  feature.geometryType = undefined
  const found: Found = { isFeature: false, isGeometry: false }
  cursor.at++
  if (peek(cursor) === 125) cursor.at++
  else
    do readMember(cursor, feature, found)
    while (hasNext(cursor, 125))
  if (found.isFeature) {
    learnPattern(feature.patterns, cursor, start, feature.fields)
    return true
  }
  if (!found.isGeometry) return false
  cursor.at = start
  feature.kinds[idPlace] = token.null
  readFeatureGeometry(cursor, feature)
  return true
}

/** Reads a feature that is like one before it; else the cursor stays where it is. */
function readPatterned(cursor: Cursor, feature: Feature): boolean {
  const { seen } = feature.patterns
  const start = cursor.at
  for (let index = 0; index < seen.length; index++) {
    const pattern = seen[index] as Pattern
    if (readAlike(cursor, feature, pattern)) {
      if (index > 0) seen.unshift(...seen.splice(index, 1))
      return true
    }
    cursor.at = start
  }
  return false
}

function readAlike(cursor: Cursor, feature: Feature, pattern: Pattern): boolean {
  const { texts, places, missing } = pattern
  if (pattern.fieldCount !== feature.fields.names.length) return false
  for (let index = 0; index < places.length; index++) {
    if (!stepOver(cursor, texts[index] as FixedText)) return false
    const place = places[index] as number
    if (place !== coordinatesPlace) readValue(cursor, feature, place)
    else if (!readCoordinatesAlike(cursor, feature.geometry, pattern.geometryType)) return false
  }
  if (!stepOver(cursor, texts[places.length] as FixedText)) return false
  for (const place of missing) feature.kinds[place] = token.null
  feature.geometryState = 'valid'
  feature.geometryType = pattern.geometryType
  return true
}

function readCoordinatesAlike(cursor: Cursor, writer: GeometryWriter, type: GeometryType): boolean {
  beginGeometry(writer)
  try {
    readCoordinates(cursor, writer, type)
    return true
  } catch (error) {
    if (error === noGeometry) return false
    throw error
  }
}

/** What the type of an object says that it is. */
type Found = { isFeature: boolean; isGeometry: boolean }

function readMember(cursor: Cursor, feature: Feature, found: Found): void {
  peek(cursor)
  const keyStart = cursor.at
  skipString(cursor)
  const keyEnd = cursor.at
  const { bytes } = cursor
  take(cursor, 58)
  const first = peek(cursor)
  const start = cursor.at
  if (isString(bytes, keyStart, keyEnd, 'properties')) readProperties(cursor, feature, first)
  else if (isString(bytes, keyStart, keyEnd, 'geometry')) readFeatureGeometry(cursor, feature)
  else {
    if (isString(bytes, keyStart, keyEnd, 'id')) {
      readValue(cursor, feature, idPlace)
      return
    }
    const kind = skipValue(cursor)
    if (isString(bytes, keyStart, keyEnd, 'type')) {
      found.isFeature = isString(bytes, start, cursor.at, 'Feature')
      found.isGeometry = !found.isFeature && isGeometryType(textIn(bytes, start, cursor.at, kind))
    }
  }
}

function readFeatureGeometry(cursor: Cursor, feature: Feature): void {
  feature.geometryType = undefined
  if (peek(cursor) === 110) {
    skipValue(cursor)
    feature.geometryState = 'none'
    return
  }
  feature.geometryType = readGeometry(cursor, feature.geometry)
  feature.geometryState = feature.geometryType === undefined ? 'invalid' : 'valid'
}

function readProperties(cursor: Cursor, feature: Feature, first: number): void {
  if (first !== 123) {
    skipValue(cursor)
    return
  }
  // Repeated properties replace those before them.
  feature.kinds.fill(token.null, 0, feature.fields.names.length)
  cursor.at++
  if (peek(cursor) === 125) {
    cursor.at++
    return
  }
  let expected = 0
  do {
    const field = readKey(cursor, feature, expected)
    readValue(cursor, feature, field)
    expected = field + 1
  } while (hasNext(cursor, 125))
}

function readValue(cursor: Cursor, feature: Feature, place: number): void {
  const byte = peek(cursor)
  const start = cursor.at
  // The commonest without the detour.
  if (byte === 34) feature.kinds[place] = skipString(cursor)
  else if (byte <= 57) feature.kinds[place] = readNumber(cursor, feature, place)
  else feature.kinds[place] = skipValue(cursor)
  feature.starts[place] = start
  feature.ends[place] = cursor.at
}

/** Of a number that may go on behind the window, what must follow it is missing then. */
function readNumber(cursor: Cursor, feature: Feature, place: number): number {
  const { bytes, at: start } = cursor
  const value = readPlainNumber(bytes, cursor)
  feature.numbers[place] = value
  if (!Number.isNaN(value) && ((bytes[cursor.at] as number) | 32) !== 101)
    return cursor.hasPoint ? token.float : token.integer
  feature.numbers[place] = Number.NaN
  cursor.at = start
  return skipValue(cursor)
}

/** The key as it is mostly written. */
function writtenKey(name: string): FixedText {
  return fixedText(Buffer.from(`${JSON.stringify(name)}:`))
}

/** The field of the key here: most features have the keys of the one before in its order. */
function readKey(cursor: Cursor, feature: Feature, expected: number): number {
  peek(cursor)
  const { bytes, at } = cursor
  const key = feature.keys[expected]
  if (key !== undefined && stepOver(cursor, key)) return expected
  const kind = skipString(cursor)
  const field = fieldIndex(feature.fields, textIn(bytes, at, cursor.at, kind))
  feature.keys[field] ??= writtenKey(feature.fields.names[field] ?? '')
  take(cursor, 58)
  return field
}
