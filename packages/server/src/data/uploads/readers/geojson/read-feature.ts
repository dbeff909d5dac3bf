import { closeBrace, colon, lowerN, openBrace } from '../../../../query/geometry/encoding/character-codes.ts'
import { isGeometryType } from '../../../../query/geometry/geometry-type.ts'
import { fieldIndex } from '../engine/type-inference.ts'
import { ReadFault } from '../reader.ts'
import {
  fail,
  hasNext,
  isString,
  peek,
  readKey,
  skipString,
  skipValue,
  type TextCursor,
  take,
  textIn,
  token,
} from './cursor.ts'
import { readAlike } from './fast.ts'
import { clearValues, type FeatureBuffer, idSlot, readValue } from './feature.ts'
import { readGeometry } from './geometry.ts'
import { learnLayout } from './learn-layout.ts'

/** Reads a feature, or a bare geometry as one without properties. */
export function readFeature(cursor: TextCursor, feature: FeatureBuffer): void {
  if (peek(cursor) !== openBrace) refuseOther(cursor)
  const start = cursor.at
  clearValues(feature)
  if (readAlike(cursor, feature)) return
  cursor.at = start
  clearValues(feature)
  feature.shape = 'missing'
  const members: FeatureMembers = { isFeature: false, isGeometry: false }
  cursor.at++
  if (peek(cursor) === closeBrace) cursor.at++
  else
    do readMember(cursor, feature, members)
    while (hasNext(cursor, closeBrace))
  if (members.isFeature) {
    learnLayout(cursor, start, feature)
    return
  }
  if (!members.isGeometry)
    throw new ReadFault(
      'wrong_format',
      'The JSON is neither GeoJSON nor a list of objects: it holds an object that is neither a feature nor a geometry.',
    )
  cursor.at = start
  feature.tokens[idSlot] = token.null
  readFeatureGeometry(cursor, feature)
}

/** Another value is JSON, too, if it is one. */
function refuseOther(cursor: TextCursor): never {
  if (!/["[\dtfn-]/.test(String.fromCharCode(peek(cursor)))) fail(cursor, 'a feature')
  skipValue(cursor)
  throw new ReadFault(
    'wrong_format',
    'The JSON is neither GeoJSON nor a list of objects: it holds numbers, texts or lists. Send objects that name their values, such as [{"name": "Bern"}].',
  )
}

/** What the type of an object says that it is. */
type FeatureMembers = { isFeature: boolean; isGeometry: boolean }

function readMember(cursor: TextCursor, feature: FeatureBuffer, members: FeatureMembers): void {
  peek(cursor)
  const keyStart = cursor.at
  skipString(cursor)
  const keyEnd = cursor.at
  const { bytes } = cursor
  take(cursor, colon)
  const first = peek(cursor)
  const start = cursor.at
  if (isString(bytes, keyStart, keyEnd, 'properties')) readProperties(cursor, feature, first)
  else if (isString(bytes, keyStart, keyEnd, 'geometry')) readFeatureGeometry(cursor, feature)
  else {
    if (isString(bytes, keyStart, keyEnd, 'id')) {
      readValue(cursor, feature, idSlot)
      return
    }
    const kind = skipValue(cursor)
    if (isString(bytes, keyStart, keyEnd, 'type')) {
      members.isFeature = isString(bytes, start, cursor.at, 'Feature')
      members.isGeometry = !members.isFeature && isGeometryType(textIn(bytes, start, cursor.at, kind))
    }
  }
}

function readFeatureGeometry(cursor: TextCursor, feature: FeatureBuffer): void {
  if (peek(cursor) === lowerN) {
    skipValue(cursor)
    feature.shape = 'missing'
  } else feature.shape = readGeometry(cursor, feature.geometry) ?? 'invalid'
}

function readProperties(cursor: TextCursor, feature: FeatureBuffer, first: number): void {
  if (first !== openBrace) {
    skipValue(cursor)
    return
  }
  // Repeated properties replace those before them.
  feature.tokens.fill(token.null, 0, feature.fields.names.length)
  cursor.at++
  if (peek(cursor) === closeBrace) {
    cursor.at++
    return
  }
  do readValue(cursor, feature, fieldIndex(feature.fields, readKey(cursor)))
  while (hasNext(cursor, closeBrace))
}
