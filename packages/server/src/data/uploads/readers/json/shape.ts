import {
  closeBrace,
  closeBracket,
  comma,
  openBrace,
  openBracket,
  recordSeparator,
} from '../../../../query/geometry/encoding/character-codes.ts'
import { isGeometryType } from '../../../../query/geometry/geometry-type.ts'
import { closeTextWindow, fillTextWindow, openTextWindow } from '../engine/text-window.ts'
import { hasNext, incomplete, peek, readKey, skipValue, type TextCursor } from '../geojson/cursor.ts'
import { maxFeatureBytes, ReadFault } from '../reader.ts'

/**
 * Where in a JSON file its records are: objects in a list or one after another, in the list that is this member, or the members of
 * one object (`{"a": {…}, "b": {…}}`), whose names become the values of `keyName`.
 */
export type RecordsMember = { readonly member: string | undefined; readonly keyName?: string }

const firstBytes = 64 * 1024

/** Whether a JSON file holds plain objects rather than GeoJSON, and where; undefined when it does not. */
export function findRecords(file: string): RecordsMember | undefined {
  const window = openTextWindow(file, firstBytes)
  const look: Look = { member: undefined }
  try {
    // Larger than any record may be, so it is what holds them.
    while (window.end <= maxFeatureBytes && fillTextWindow(window)) {
      const start = window.at
      const shape = lookAt(window, look)
      if (shape !== 'unknown') return shape
      window.at = start
    }
    return look.member === undefined ? undefined : look
  } finally {
    closeTextWindow(window)
  }
}

/** The first member that is a list of objects. */
type Look = { member: string | undefined }

/** So many members are compared. */
const comparedMembers = 20

/** What is no JSON is no list of objects either: whoever reads it says what is wrong. */
function lookAt(cursor: TextCursor, look: Look): RecordsMember | undefined | 'unknown' {
  try {
    while (peek(cursor) === recordSeparator) cursor.at++
    if (peek(cursor) === openBracket) {
      cursor.at++
      return isPlainObject(cursor) ? { member: undefined } : undefined
    }
    return peek(cursor) === openBrace ? lookAtObject(cursor, look) : undefined
  } catch (error) {
    if (error === incomplete) return 'unknown'
    if (error instanceof ReadFault || error instanceof SyntaxError) return undefined
    throw error
  }
}

/** What the members of an object are, as far as they are compared. */
type Members = {
  readonly names: string[]
  readonly objects: (Record<string, unknown> | undefined)[]
  /** The first that is an empty list. */
  empty: string | undefined
}

/** The first of several objects, or one that holds a list of them. */
function lookAtObject(cursor: TextCursor, look: Look): RecordsMember | undefined {
  const start = cursor.at
  cursor.at++
  if (peek(cursor) === closeBrace) return undefined
  const members: Members = { names: [], objects: [], empty: undefined }
  do {
    const key = readKey(cursor)
    if (isOfGeoJson(cursor, key)) return undefined
    noteMember(cursor, key, members)
    if (look.member === undefined && isListOfObjects(cursor)) look.member = key
    skipValue(cursor)
  } while (hasNext(cursor, closeBrace))
  while (peek(cursor) === recordSeparator || peek(cursor) === comma) cursor.at++
  if (peek(cursor) !== openBrace)
    return look.member === undefined ? (keyedRecords(members.objects) ?? noRecords(members)) : look
  cursor.at = start
  return isPlainObject(cursor) ? { member: undefined } : undefined
}

/** The cursor stays where it is. */
function noteMember(cursor: TextCursor, key: string, members: Members): void {
  if (members.names.length === comparedMembers) return
  members.names.push(key)
  members.objects.push(plainObject(cursor))
  if (isEmptyList(cursor)) members.empty ??= key
}

/** How answers call the list of their records. */
const listNames = /^(data|results?|items|records|rows|values?|list|entries|objects|elements|hits|content)$/i

/** A list of records in which there are none: the only member, or one that answers have. Others may be an attribute. */
const noRecords = ({ names, empty }: Members): RecordsMember | undefined =>
  empty !== undefined && (names.length === 1 || listNames.test(empty)) ? { member: empty } : undefined

/** Members that are objects with names in common are records. */
function keyedRecords(members: readonly (Record<string, unknown> | undefined)[]): RecordsMember | undefined {
  const [first, ...others] = members
  if (!first || others.length === 0) return undefined
  const names = Object.keys(first)
  const isLike = (other: Record<string, unknown> | undefined): boolean =>
    other !== undefined && names.filter((name) => name in other).length * 2 >= Math.max(names.length, 1)
  if (!others.every(isLike) || names.length === 0) return undefined
  const isFree = (name: string) => members.every((one) => one === undefined || !(name in one))
  return { member: undefined, keyName: ['id', 'key', 'member_name'].find(isFree) ?? 'member_of' }
}

/** The value here, if it is an object and no GeoJSON. The cursor stays where it is. */
function plainObject(cursor: TextCursor): Record<string, unknown> | undefined {
  const start = cursor.at
  const isPlain = isPlainObject(cursor)
  cursor.at = start
  const text = isPlain ? valueText(cursor) : undefined
  cursor.at = start
  return text === undefined ? undefined : (JSON.parse(text) as Record<string, unknown>)
}

/** Whether a member says that its object is GeoJSON. The cursor stays where it is. */
function isOfGeoJson(cursor: TextCursor, key: string): boolean {
  if (key !== 'type') return key === 'features'
  const start = cursor.at
  const type: unknown = JSON.parse(valueText(cursor))
  cursor.at = start
  return isGeoJsonType(type)
}

function valueText(cursor: TextCursor): string {
  peek(cursor)
  const start = cursor.at
  skipValue(cursor)
  return cursor.bytes.toString('utf8', start, cursor.at)
}

/** Whether the value here is a list whose first item is an object that is no GeoJSON. The cursor stays where it is. */
export function isListOfObjects(cursor: TextCursor): boolean {
  const start = cursor.at
  if (peek(cursor) !== openBracket) return false
  cursor.at++
  const isList = peek(cursor) === openBrace && isPlainObject(cursor)
  cursor.at = start
  return isList
}

/** The cursor stays where it is. */
function isEmptyList(cursor: TextCursor): boolean {
  const start = cursor.at
  if (peek(cursor) !== openBracket) return false
  cursor.at++
  const isEmpty = peek(cursor) === closeBracket
  cursor.at = start
  return isEmpty
}

const isGeoJsonType = (type: unknown): boolean =>
  typeof type === 'string' && (type === 'Feature' || type === 'FeatureCollection' || isGeometryType(type))

/** Whether there is an object here that is neither feature nor geometry. */
function isPlainObject(cursor: TextCursor): boolean {
  if (peek(cursor) !== openBrace) return false
  const object: unknown = JSON.parse(valueText(cursor))
  if (typeof object !== 'object' || object === null || !('type' in object)) return true
  const isGeoJson = ['geometry', 'properties', 'coordinates', 'geometries', 'features'].some((key) => key in object)
  return !(isGeoJson && isGeoJsonType(object.type))
}
