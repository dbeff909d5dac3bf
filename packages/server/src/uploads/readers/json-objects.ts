import { type Cursor, createCursor, fail, hasNext, incomplete, peek, readKey, skipValue } from './geojson-cursor.ts'
import { isListOfObjects, type RecordsPlace } from './json-shape.ts'
import { windowsOf } from './json-windows.ts'
import { ReadFault } from './reader.ts'

/** Where the cursor stands: between whole values, in the list of records, or among the members of the object that holds it. */
type Place = 'outside' | 'list' | 'members'

type State = {
  cursor: Cursor
  place: Place
  isFirst: boolean
  member: string | undefined
  count: number
  /** The texts of the values that were read. */
  texts: string[]
  /** Other lists of objects, which are not read. */
  ignored: string[]
}

export type ObjectBatch = { texts: string[]; fraction: number }

const windowBytes = 512 * 1024
const separator = 30
const bracket = 91
const closingBracket = 93
const brace = 123
const closingBrace = 125

/** Reads the records of a JSON file as texts, in batches, with memory for one window or one record. */
export async function* readObjects(
  file: string,
  { member }: RecordsPlace,
  { signal, ignored = [] }: { signal: AbortSignal; ignored?: string[] },
): AsyncGenerator<ObjectBatch> {
  const cursor = createCursor(windowBytes)
  const state: State = { cursor, place: 'outside', isFirst: true, member, count: 0, texts: [], ignored }
  for await (const fraction of windowsOf(file, cursor, signal)) {
    readWindow(state)
    yield { texts: state.texts, fraction }
    state.texts = []
  }
}

function readWindow(state: State): void {
  const { cursor } = state
  let start = cursor.at
  let { place, isFirst } = state
  try {
    while (readUnit(state)) {
      start = cursor.at
      place = state.place
      isFirst = state.isFirst
    }
  } catch (error) {
    if (error === incomplete) {
      cursor.at = start
      Object.assign(state, { place, isFirst })
    } else if (error instanceof ReadFault) {
      throw new ReadFault(error.code, error.message, { feature: state.count + 1 }, error)
    } else throw error
  }
}

/** Reads on by one record, member or bracket. False at the end of the file. */
function readUnit(state: State): boolean {
  if (state.place === 'outside') return readOutside(state)
  if (state.place === 'list') readListed(state)
  else readMember(state)
  return true
}

function moveTo(state: State, place: Place, isFirst: boolean): void {
  state.place = place
  state.isFirst = isFirst
}

function readOutside(state: State): boolean {
  const { cursor, member } = state
  while (peek(cursor) === separator) cursor.at++
  if (cursor.at >= cursor.end) {
    if (cursor.isLast) return false
    throw incomplete
  }
  const first = peek(cursor)
  if (member !== undefined && first === brace) {
    cursor.at++
    moveTo(state, 'members', true)
  } else if (member === undefined && first === bracket) {
    cursor.at++
    moveTo(state, 'list', true)
  } else readRecord(state)
  return true
}

function readListed(state: State): void {
  const { cursor, isFirst } = state
  const isEmpty = isFirst && peek(cursor) === closingBracket
  if (isEmpty) cursor.at++
  if (isEmpty || !(isFirst || hasNext(cursor, closingBracket))) {
    moveTo(state, state.member === undefined ? 'outside' : 'members', false)
    return
  }
  readRecord(state)
  state.isFirst = false
}

function readRecord(state: State): void {
  const { cursor } = state
  peek(cursor)
  const start = cursor.at
  skipValue(cursor)
  // A number may go on behind the window.
  if (cursor.at >= cursor.end && !cursor.isLast) fail(cursor, 'an object')
  state.texts.push(cursor.bytes.toString('utf8', start, cursor.at))
  state.count++
}

function readMember(state: State): void {
  const { cursor, isFirst, member, ignored } = state
  if (isFirst ? peek(cursor) === closingBrace : !hasNext(cursor, closingBrace)) {
    if (isFirst) cursor.at++
    moveTo(state, 'outside', false)
    return
  }
  const key = readKey(cursor)
  if (key === member && peek(cursor) === bracket) {
    cursor.at++
    moveTo(state, 'list', true)
    return
  }
  const isList = isListOfObjects(cursor)
  skipValue(cursor)
  if (isList && !ignored.includes(key)) ignored.push(key)
  state.isFirst = false
}
