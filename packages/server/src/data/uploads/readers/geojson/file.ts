import { noteName } from '../../../../query/formats/table-note.ts'
import { closeBrace, openBrace, openBracket, quote } from '../../../../query/geometry/encoding/character-codes.ts'
import type { ItemFormat, ValueKind } from '../json/items.ts'
import { ReadFault } from '../reader.ts'
import { fail, hasNext, peek, readKey, skipValue, type TextCursor, take, textIn } from './cursor.ts'
import type { FeatureBuffer } from './feature.ts'
import { readFeature } from './read-feature.ts'

/**
 * GeoJSON in a file: a collection is entered, so that its features are read one by one; all else is one feature. `take` gets members of
 * a collection that say something of it.
 */
export function featureFormat(feature: FeatureBuffer, take: (member: string, value: unknown) => void): ItemFormat {
  return {
    kindOf,
    readItem: (cursor) => readFeature(cursor, feature),
    skipMember(cursor, key) {
      if (key === 'features') {
        if (peek(cursor) !== openBracket) fail(cursor, 'a list of features')
        return false
      }
      const start = cursor.at
      skipValue(cursor)
      if (key === 'crs' || key === noteName) take(key, JSON.parse(cursor.bytes.toString('utf8', start, cursor.at)))
      return true
    },
  }
}

function kindOf(cursor: TextCursor, first: number): ValueKind {
  if (first === openBracket) return 'list'
  const start = cursor.at
  take(cursor, openBrace)
  const isCollection = isCollectionHere(cursor)
  cursor.at = start
  return isCollection ? 'members' : 'item'
}

function isCollectionHere(cursor: TextCursor): boolean {
  if (peek(cursor) === closeBrace) return false
  do {
    const key = readKey(cursor)
    if (key === 'features') return true
    if (['properties', 'geometry', 'coordinates', 'geometries'].includes(key)) return false
    const start = cursor.at
    const kind = skipValue(cursor)
    if (key === 'type' && cursor.bytes[start] === quote)
      return isCollectionType(textIn(cursor.bytes, start, cursor.at, kind))
  } while (hasNext(cursor, closeBrace))
  return false
}

function isCollectionType(type: string): boolean {
  if (type === 'Topology')
    throw new ReadFault('wrong_format', 'The file is TopoJSON with "type" at its end. Put "type": "Topology" first.')
  return type === 'FeatureCollection'
}
