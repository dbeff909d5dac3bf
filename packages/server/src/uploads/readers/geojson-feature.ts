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
import { createHabit, type Habit, learnBridge, learnOpening, stepOver } from './geojson-habit.ts'
import { type GeometryType, maxFields } from './reader.ts'
import { createFieldList, type FieldList, fieldIndex } from './type-inference.ts'
import { beginGeometry, type GeometryWriter } from './wkb.ts'
import { isGeometryType } from './wkb-geometry.ts'

/** The feature read last: where its values lie in the window, and its geometry. */
export type Feature = {
  fields: FieldList
  /** The keys of the fields with their quotes and colons, to recognise them without making strings. */
  keys: Buffer[]
  /** Where the value of a field lies; a kind of null means that it has none. The last place is that of the feature's id. */
  starts: Int32Array
  ends: Int32Array
  kinds: Uint8Array
  geometry: GeometryWriter
  geometryState: 'none' | 'valid' | 'invalid'
  geometryType: GeometryType | undefined
  habit: Habit
}

/** Where the id of a feature lies among its values. */
export const idPlace = maxFields

export function createFeature(geometry: GeometryWriter, fields: FieldList = createFieldList()): Feature {
  return {
    fields,
    keys: fields.names.map(writtenKey),
    starts: new Int32Array(maxFields + 1),
    ends: new Int32Array(maxFields + 1),
    kinds: new Uint8Array(maxFields + 1),
    geometry,
    geometryState: 'none',
    geometryType: undefined,
    habit: createHabit(),
  }
}

/** Reads a feature, or a bare geometry as one without properties. False when the object is neither. */
export function readFeature(cursor: Cursor, feature: Feature): boolean {
  if (peek(cursor) !== 123) fail(cursor, 'a feature')
  const start = cursor.at
  feature.kinds.fill(token.null, 0, feature.fields.names.length)
  feature.kinds[idPlace] = token.null
  feature.geometryState = 'none'
  feature.geometryType = undefined
  const found: Found = { isFeature: false, isGeometry: false }
  let isMore = beginFeature(cursor, feature, found)
  while (isMore) {
    readMember(cursor, feature, found)
    isMore = hasNext(cursor, 125)
  }
  if (found.isFeature) return true
  if (!found.isGeometry) return false
  cursor.at = start
  feature.kinds[idPlace] = token.null
  readFeatureGeometry(cursor, feature)
  return true
}

/** Steps into the object, over as much as is written as in the feature before. True when a member follows. */
function beginFeature(cursor: Cursor, feature: Feature, found: Found): boolean {
  const { habit } = feature
  if (stepOver(cursor, habit.opening)) {
    found.isFeature = true
    readProperties(cursor, feature, peek(cursor))
    if (stepOver(cursor, habit.bridge)) readHabitualGeometry(cursor, feature)
    else learnBridge(habit, cursor)
    return hasNext(cursor, 125)
  }
  learnOpening(habit, cursor)
  cursor.at++
  if (peek(cursor) !== 125) return true
  cursor.at++
  return false
}

/** Reads the coordinates here. Where they are none, or more follows in the geometry, it is left to be read from its start. */
function readHabitualGeometry(cursor: Cursor, feature: Feature): void {
  const { bridge, bridgeType } = feature.habit
  const start = cursor.at - bridge.length
  beginGeometry(feature.geometry)
  try {
    readCoordinates(cursor, feature.geometry, bridgeType)
    if (peek(cursor) === 125) {
      cursor.at++
      feature.geometryType = bridgeType
      feature.geometryState = 'valid'
      return
    }
  } catch (error) {
    if (error !== noGeometry) throw error
  }
  cursor.at = start
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
    const kind = skipValue(cursor)
    if (isString(bytes, keyStart, keyEnd, 'id')) setValue(feature, idPlace, start, cursor.at, kind)
    else if (isString(bytes, keyStart, keyEnd, 'type')) {
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
    const byte = peek(cursor)
    const start = cursor.at
    // The commonest without the detour.
    const kind = byte === 34 ? skipString(cursor) : skipValue(cursor)
    setValue(feature, field, start, cursor.at, kind)
    expected = field + 1
  } while (hasNext(cursor, 125))
}

function setValue(feature: Feature, place: number, start: number, end: number, kind: number): void {
  feature.starts[place] = start
  feature.ends[place] = end
  feature.kinds[place] = kind
}

/** The key as it is mostly written. */
function writtenKey(name: string): Buffer {
  return Buffer.from(`${JSON.stringify(name)}:`)
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
