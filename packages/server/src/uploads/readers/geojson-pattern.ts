import { type Cursor, hasNext, isString, peek, skipString, skipValue, take, textIn, token } from './geojson-cursor.ts'
import { type GeometryType, maxFields } from './reader.ts'
import type { FieldList } from './type-inference.ts'

/** Where the id of a feature lies among its values. */
export const idPlace = maxFields

/** Where its coordinates lie: they are no value. */
export const coordinatesPlace = -1

const wordBytes = 8

/**
 * Bytes to be recognised, eight at once: as doubles, which are equal only where their bytes are, but for 0. The last word may
 * overlap the one before.
 */
export type FixedText = { length: number; words: Float64Array; lastWord: number; short: Buffer }

/** What a feature is but for its values: most features of a file differ only in these. */
export type Pattern = {
  /** The bytes before each value, and those behind the last. */
  texts: FixedText[]
  /** Of each value. */
  places: number[]
  /** Those without a value. */
  missing: number[]
  /** How many fields were known then. */
  fieldCount: number
  geometryType: GeometryType
}

/** The patterns of a file, the one seen last first. Files that have none are not asked for them again and again. */
export type Patterns = { seen: Pattern[]; lessonsLeft: number }

const mostPatterns = 4
/** Without the values. */
const mostBytes = 64 * 1024

export function createPatterns(): Patterns {
  return { seen: [], lessonsLeft: 200 }
}

/** Takes the feature that lies here, and was read without fault, for a pattern. */
export function learnPattern(patterns: Patterns, cursor: Cursor, start: number, fields: FieldList): void {
  if (patterns.lessonsLeft === 0) return
  patterns.lessonsLeft--
  const end = cursor.at
  cursor.at = start
  const pattern = patternHere(cursor, fields)
  cursor.at = end
  if (!pattern || pattern.texts.reduce((size, text) => size + text.length, 0) > mostBytes) return
  patterns.seen.unshift(pattern)
  if (patterns.seen.length > mostPatterns) patterns.seen.pop()
}

/** Steps over exactly these bytes, if they are here. None of them is the 0 that ends the window. */
export function stepOver(cursor: Cursor, text: FixedText): boolean {
  const { at } = cursor
  if (!(text.length < wordBytes ? isShortHere(cursor, text) : isHere(cursor, text))) return false
  cursor.at = at + text.length
  return true
}

function isHere({ view, at }: Cursor, { words, lastWord, length }: FixedText): boolean {
  for (let index = 0; index < words.length; index++)
    if (view.getFloat64(at + index * wordBytes, true) !== words[index]) return false
  return view.getFloat64(at + length - wordBytes, true) === lastWord
}

function isShortHere({ bytes, at }: Cursor, { short, length }: FixedText): boolean {
  let index = 0
  while (index < length && bytes[at + index] === short[index]) index++
  return index === length
}

export function fixedText(text: Buffer): FixedText {
  const isLong = text.length >= wordBytes
  return {
    length: text.length,
    words: Float64Array.from({ length: Math.floor(text.length / wordBytes) }, (_, index) =>
      text.readDoubleLE(index * wordBytes),
    ),
    lastWord: isLong ? text.readDoubleLE(text.length - wordBytes) : 0,
    short: Buffer.from(isLong ? [] : text),
  }
}

type Lesson = { cursor: Cursor; fields: FieldList; texts: FixedText[]; places: number[]; textStart: number }

function patternHere(cursor: Cursor, fields: FieldList): Pattern | undefined {
  const lesson: Lesson = { cursor, fields, texts: [], places: [], textStart: cursor.at }
  const seen = new Set<string>()
  let geometryType: GeometryType | undefined
  let isFeature = false
  const isUsual = walk(cursor, (key, isEscaped) => {
    if (isEscaped) return false
    if (key === 'type') isFeature = isStringHere(cursor, 'Feature')
    else if (key === 'id') return seen.size < seen.add(key).size && learnValue(lesson, idPlace)
    else if (key === 'properties') return seen.size < seen.add(key).size && learnProperties(lesson)
    else if (key === 'geometry') {
      geometryType = learnGeometry(lesson)
      return seen.size < seen.add(key).size && geometryType !== undefined
    }
    skipValue(cursor)
    return true
  })
  if (!isUsual || !isFeature || geometryType === undefined || !seen.has('properties')) return undefined
  const { texts, places } = lesson
  texts.push(textBefore(lesson, cursor.at))
  const all = [...fields.names.map((_, index) => index), idPlace]
  const missing = all.filter((place) => !places.includes(place))
  return { texts, places, missing, fieldCount: fields.names.length, geometryType }
}

/** Visits the members of the object here, until one is unusual: each is given where its value is. */
function walk(cursor: Cursor, visit: (key: string, isEscaped: boolean) => boolean): boolean {
  if (peek(cursor) !== 123) return false
  cursor.at++
  if (peek(cursor) === 125) return false
  do {
    peek(cursor)
    const start = cursor.at
    const kind = skipString(cursor)
    const key = textIn(cursor.bytes, start, cursor.at, kind)
    take(cursor, 58)
    peek(cursor)
    if (!visit(key, kind === token.escaped)) return false
  } while (hasNext(cursor, 125))
  return true
}

function learnProperties(lesson: Lesson): boolean {
  return walk(lesson.cursor, (key) => {
    const place = lesson.fields.indexes.get(key)
    return place !== undefined && learnValue(lesson, place)
  })
}

function learnGeometry(lesson: Lesson): GeometryType | undefined {
  const { cursor } = lesson
  let type: GeometryType | undefined
  const isUsual = walk(cursor, (key, isEscaped) => {
    if (isEscaped) return false
    if (key === 'coordinates') return type !== undefined && learnValue(lesson, coordinatesPlace)
    if (key === 'geometries' || (key === 'type' && type !== undefined)) return false
    if (key === 'type') type = simpleTypes.find((name) => isStringHere(cursor, name))
    skipValue(cursor)
    return true
  })
  return isUsual && lesson.places.includes(coordinatesPlace) ? type : undefined
}

const simpleTypes = ['Point', 'LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon'] as const

function isStringHere(cursor: Cursor, text: string): boolean {
  const { bytes, at } = cursor
  return bytes[at] === 34 && bytes[at + text.length + 1] === 34 && isString(bytes, at, at + text.length + 2, text)
}

/** False when there is such a value already. */
function learnValue(lesson: Lesson, place: number): boolean {
  const { cursor, texts, places } = lesson
  if (places.includes(place)) return false
  texts.push(textBefore(lesson, cursor.at))
  places.push(place)
  skipValue(cursor)
  lesson.textStart = cursor.at
  return true
}

const textBefore = ({ cursor, textStart }: Lesson, end: number): FixedText =>
  fixedText(cursor.bytes.subarray(textStart, end))
