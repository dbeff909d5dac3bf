import { closeBrace, closeBracket, recordSeparator } from '../../../../query/geometry/encoding/character-codes.ts'
import { hasNext, incomplete, peek, readKey, type TextCursor } from '../geojson/cursor.ts'
import { maxFeatureBytes, ReadFault } from '../reader.ts'

/** What a value of a file is: an item, a list of them, or an object with such a list among its members. */
export type ValueKind = 'item' | 'list' | 'members'

/** Where the items of a JSON file are, and how one is read. */
export type ItemFormat = {
  /** Says what the value here is, which begins with this byte. The cursor stays where it is. */
  kindOf(cursor: TextCursor, first: number): ValueKind
  readItem(cursor: TextCursor): void
  /** Steps over the value of a member that holds no items; false at the list of those, which is entered then. */
  skipMember(cursor: TextCursor, key: string): boolean
}

/** How far a file is read: between whole values, in a list of items, or among the members of an object with such a list. */
export type ItemState = {
  readonly cursor: TextCursor
  readonly format: ItemFormat
  place: 'outside' | 'list' | 'members'
  /** Where the list of items is. */
  outer: 'outside' | 'members'
  /** Nothing was read yet at this place: no comma is due. */
  isFirst: boolean
  /** In bytes, of what was read at once, or a quarter of the window. */
  longest: number
  /** Of the items. */
  count: number
}

export function createItemState(cursor: TextCursor, format: ItemFormat): ItemState {
  return { cursor, format, place: 'outside', outer: 'outside', isFirst: true, longest: 0, count: 0 }
}

/** What was read: an item, something between two, or the end of the file. */
type Step = 'item' | 'between' | 'end'

/** Reads on to the next item; false when the window or the file ends before that. */
export function readOn(state: ItemState): boolean {
  const { cursor } = state
  let start = cursor.at
  try {
    // What is most likely cut off by the end of the window is read with the next.
    while (cursor.isLast || cursor.end - cursor.at > state.longest) {
      start = cursor.at
      const step = state.place === 'list' ? readListed(state) : readUnlisted(state)
      if (cursor.at - start > state.longest) state.longest = Math.min(cursor.at - start, cursor.bytes.length >> 2)
      if (step === 'item') state.count++
      if (step !== 'between') return step === 'item'
    }
  } catch (error) {
    if (error !== incomplete) throw faultAt(error, state.count + 1)
    cursor.at = start
    if (cursor.end - start > maxFeatureBytes)
      throw new ReadFault('feature_too_large', `A feature is larger than ${maxFeatureBytes} bytes, the limit.`)
  }
  return false
}

function faultAt(error: unknown, feature: number): unknown {
  if (!(error instanceof ReadFault) || error.position.feature !== undefined) return error
  return new ReadFault(error.code, error.message, { feature }, error)
}

function readListed(state: ItemState): Step {
  const { cursor, isFirst } = state
  const isEmpty = isFirst && peek(cursor) === closeBracket
  if (isEmpty) cursor.at++
  if (isEmpty || !(isFirst || hasNext(cursor, closeBracket))) {
    state.place = state.outer
    state.isFirst = false
    return 'between'
  }
  state.format.readItem(cursor)
  state.isFirst = false
  return 'item'
}

function readUnlisted(state: ItemState): Step {
  return state.place === 'members' ? readMember(state) : readOutside(state)
}

/** Blanks between whole values; a sequence of RFC 8142 has record separators there. */
function readOutside(state: ItemState): Step {
  const { cursor, format } = state
  while (peek(cursor) === recordSeparator) cursor.at++
  if (cursor.at >= cursor.end) {
    if (cursor.isLast) return 'end'
    throw incomplete
  }
  const kind = format.kindOf(cursor, peek(cursor))
  if (kind !== 'item') return enter(state, kind)
  format.readItem(cursor)
  return 'item'
}

/** Steps over the bracket or brace here. */
function enter(state: ItemState, place: 'list' | 'members'): Step {
  state.cursor.at++
  state.outer = state.place === 'members' ? 'members' : 'outside'
  state.place = place
  state.isFirst = true
  return 'between'
}

function readMember(state: ItemState): Step {
  const { cursor, format, isFirst } = state
  const isEnd = isFirst ? peek(cursor) === closeBrace : !hasNext(cursor, closeBrace)
  if (isEnd) {
    if (isFirst) cursor.at++
    state.place = 'outside'
    return 'between'
  }
  const key = readKey(cursor)
  if (!format.skipMember(cursor, key)) return enter(state, 'list')
  state.isFirst = false
  return 'between'
}
