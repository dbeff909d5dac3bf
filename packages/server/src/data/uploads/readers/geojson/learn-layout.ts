import { closeBrace, openBrace } from '../../../../query/geometry/encoding/character-codes.ts'
import { hasNext, isString, peek, readKey, skipValue, type TextCursor } from './cursor.ts'
import { type FeatureBuffer, idSlot } from './feature.ts'
import { fixedText, stepOver } from './fixed-text.ts'
import { addGap, afterField, afterGap, createJunction, type Gap, type Junction, type Layout, member } from './layout.ts'

/** A feature that is looked at for how it is written. */
type Lesson = {
  readonly cursor: TextCursor
  readonly feature: FeatureBuffer
  /** The gaps that were not known yet. */
  readonly news: { readonly from: Junction; readonly gap: Gap }[]
  /** The members that were named, and those before the gap at hand. */
  members: number
  membersBefore: number
  /** The value before the gap at hand. */
  junction: Junction
  gapStart: number
}

/** With more of them the feature is not a usual one. */
const mostNews = 1_100
const mostForeignMembers = 64

/** Learns how a feature is written that was just read without a fault: from `start` to the cursor. */
export function learnLayout(cursor: TextCursor, start: number, feature: FeatureBuffer): void {
  const { layout, shape } = feature
  if (layout.lessonsLeft === 0 || shape === 'invalid' || shape === 'GeometryCollection') return
  layout.lessonsLeft--
  const end = cursor.at
  cursor.at = start
  const junction = layout.start
  const lesson: Lesson = { cursor, feature, news: [], members: 0, membersBefore: 0, junction, gapStart: start }
  if (walk(lesson, learnMember) && endGap(lesson, afterGap.end, layout.start))
    for (const { from, gap } of lesson.news) addGap(layout, from, gap)
  cursor.at = end
}

/** Visits the members of the object here until one is unusual; the cursor is at the value of each. */
function walk(lesson: Lesson, visit: (lesson: Lesson, key: string, isPlain: boolean) => boolean): boolean {
  const { cursor } = lesson
  cursor.at++
  if (peek(cursor) === closeBrace) {
    cursor.at++
    return true
  }
  do {
    peek(cursor)
    const start = cursor.at
    const key = readKey(cursor)
    if (!visit(lesson, key, isString(cursor.bytes, start, start + key.length + 2, key))) return false
  } while (hasNext(cursor, closeBrace))
  return true
}

/** Names with escapes are not recognised where features are read, so they are not here. */
function learnMember(lesson: Lesson, key: string, isPlain: boolean): boolean {
  const { cursor, feature } = lesson
  if (!isPlain) return false
  if (key === 'type') return nameMember(lesson, member.type) && skip(cursor)
  if (key === 'geometry') return learnGeometry(lesson)
  if (key === 'id') return learnValue(lesson, idSlot, afterMember(feature.layout, key))
  if (key !== 'properties') return learnValue(lesson, afterGap.skippedValue, afterMember(feature.layout, key))
  if (!nameMember(lesson, member.properties)) return false
  return cursor.bytes[cursor.at] === openBrace ? walk(lesson, learnProperty) : skip(cursor)
}

function learnProperty(lesson: Lesson, key: string): boolean {
  const { layout, fields } = lesson.feature
  const field = fields.indexes.get(key)
  return field !== undefined && learnValue(lesson, field, afterField(layout, field))
}

function learnGeometry(lesson: Lesson): boolean {
  const { cursor } = lesson
  if (!nameMember(lesson, member.geometry)) return false
  if (cursor.bytes[cursor.at] === openBrace) return walk(lesson, learnGeometryMember)
  return nameMember(lesson, member.geometryType | member.coordinates) && skip(cursor)
}

function learnGeometryMember(lesson: Lesson, key: string, isPlain: boolean): boolean {
  const { layout } = lesson.feature
  if (!isPlain || key === 'geometries') return false
  if (key === 'type') return nameMember(lesson, member.geometryType) && skip(lesson.cursor)
  const junction = afterMember(layout, `geometry ${key}`)
  if (key !== 'coordinates') return learnValue(lesson, afterGap.skippedValue, junction)
  return nameMember(lesson, member.coordinates) && learnValue(lesson, afterGap.coordinates, junction)
}

function afterMember({ members }: Layout, key: string): Junction {
  const junction = members.get(key) ?? createJunction(false)
  if (members.size < mostForeignMembers) members.set(key, junction)
  return junction
}

function skip(cursor: TextCursor): true {
  skipValue(cursor)
  return true
}

/** False when it was named before. */
function nameMember(lesson: Lesson, members: number): boolean {
  const isNew = (lesson.members & members) === 0
  lesson.members |= members
  return isNew
}

function learnValue(lesson: Lesson, place: number, next: Junction): boolean {
  if (!endGap(lesson, place, next)) return false
  skipValue(lesson.cursor)
  lesson.gapStart = lesson.cursor.at
  lesson.membersBefore = lesson.members
  lesson.junction = next
  return true
}

/** The gap ends at the cursor. */
function endGap(lesson: Lesson, place: number, next: Junction): boolean {
  const { cursor, gapStart, junction, news, feature } = lesson
  const members = lesson.members & ~lesson.membersBefore
  const isTyped = (lesson.members & member.geometryType) !== 0
  const needsShape = (members & member.geometryType) !== 0 || (place === afterGap.coordinates && !isTyped)
  if (!isKnown(lesson, place)) {
    const text = fixedText(cursor.bytes.subarray(gapStart, cursor.at))
    news.push({
      from: junction,
      gap: { text, members, place, shape: needsShape ? (feature.shape as Gap['shape']) : undefined, next },
    })
  }
  return news.length <= mostNews
}

function isKnown({ cursor, gapStart, junction }: Lesson, wanted: number): boolean {
  const end = cursor.at
  cursor.at = gapStart
  const isFound = junction.gaps.some(
    ({ text, place }) => place === wanted && text.length === end - gapStart && stepOver(cursor, text),
  )
  cursor.at = end
  return isFound
}
