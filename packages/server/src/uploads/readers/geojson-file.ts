import { release } from '../memory.ts'
import {
  type Cursor,
  createCursor,
  fail,
  hasNext,
  incomplete,
  peek,
  readKey,
  skipValue,
  take,
  textIn,
} from './geojson-cursor.ts'
import { type Feature, readFeature } from './geojson-feature.ts'
import type { TakeFeatures } from './geojson-quick.ts'
import { windowsOf } from './json-windows.ts'
import { ReadFault } from './reader.ts'

/** Where in the file the cursor stands: between whole values, in a list of features, or among a collection's members. */
type Place = 'outside' | 'array' | 'features' | 'members'

type State = {
  cursor: Cursor
  feature: Feature
  place: Place
  /** Nothing was read yet at this place: no comma is due. */
  isFirst: boolean
  /** In bytes, of what was read at once. */
  longest: number
  facts: FileFacts
  visit: (window: Cursor) => void
  takeFeatures: TakeFeatures | undefined
}

/** What a file says of itself beside its features. */
export type FileFacts = { count: number; crs: unknown }

const windowBytes = 512 * 1024

type ReadOptions = {
  signal: AbortSignal
  facts: FileFacts
  /** Is asked before each feature whether it takes some that are not visited then. */
  takeFeatures?: TakeFeatures | undefined
  window?: number
}

/**
 * Reads every feature of a GeoJSON file of whatever shape: `visit` is called when one lies in `feature`.
 * Yields between windows of the file how far it is; what else the file says is put into `facts`.
 */
export async function* readFile(
  file: string,
  feature: Feature,
  visit: (window: Cursor) => void,
  { signal, facts, takeFeatures, window = windowBytes }: ReadOptions,
): AsyncGenerator<number, void> {
  const cursor = createCursor(window)
  const state: State = { cursor, feature, place: 'outside', isFirst: true, longest: 0, facts, visit, takeFeatures }
  try {
    for await (const fraction of windowsOf(file, cursor, signal)) {
      readWindow(state)
      yield fraction
    }
  } finally {
    // A large feature may have made it large.
    release(feature.geometry)
  }
}

function readWindow(state: State): void {
  const { cursor } = state
  let start = cursor.at
  try {
    do {
      state.longest = Math.max(state.longest, cursor.at - start)
      takeAlike(state)
      start = cursor.at
    } while (isWorthReading(state) && readUnit(state))
  } catch (error) {
    if (error === incomplete) cursor.at = start
    else if (error instanceof ReadFault && error.place.feature === undefined) {
      throw new ReadFault(error.code, error.message, { feature: state.facts.count + 1 }, error)
    } else throw error
  }
}

function takeAlike({ takeFeatures, cursor, facts, place, isFirst }: State): void {
  if (!takeFeatures || place === 'members' || (place !== 'outside' && isFirst)) return
  facts.count += takeFeatures(cursor, place !== 'outside')
}

/** What is most likely cut off by the end of the window is read with the next. */
function isWorthReading({ cursor, longest }: State): boolean {
  return cursor.isLast || cursor.end - cursor.at > Math.min(longest, cursor.bytes.length / 4)
}

/** Reads on by one feature, member or bracket. False at the end of the file. */
function readUnit(state: State): boolean {
  if (state.place === 'outside') return readOutside(state)
  if (state.place === 'members') readMember(state)
  else readListed(state)
  return true
}

/** Blanks between whole values; a sequence of RFC 8142 has record separators there. */
function readOutside(state: State): boolean {
  const { cursor } = state
  while (peek(cursor) === 30) cursor.at++
  if (cursor.at >= cursor.end) {
    if (cursor.isLast) return false
    throw incomplete
  }
  if (peek(cursor) === 91) {
    cursor.at++
    moveTo(state, 'array')
  } else readObject(state)
  return true
}

function moveTo(state: State, place: Place): void {
  state.place = place
  state.isFirst = true
}

function readListed(state: State): void {
  const { cursor } = state
  const after = state.place === 'array' ? 'outside' : 'members'
  const isEmpty = state.isFirst && peek(cursor) === 93
  if (isEmpty) cursor.at++
  if (isEmpty || !(state.isFirst || hasNext(cursor, 93))) {
    moveTo(state, after)
    state.isFirst = false
    return
  }
  readOne(state)
  state.isFirst = false
}

function readOne(state: State): void {
  if (!readFeature(state.cursor, state.feature)) {
    throw new ReadFault(
      'wrong_format',
      'The JSON is neither GeoJSON nor a list of objects: it holds an object that is neither a feature nor a geometry.',
    )
  }
  state.facts.count++
  state.visit(state.cursor)
}

/** A collection is entered, so that its features are read one by one; all else is one feature. */
function readObject(state: State): void {
  const { cursor } = state
  const start = cursor.at
  take(cursor, 123)
  const isCollection = isCollectionHere(cursor)
  cursor.at = start
  if (isCollection) {
    cursor.at++
    moveTo(state, 'members')
  } else readOne(state)
}

function isCollectionHere(cursor: Cursor): boolean {
  if (peek(cursor) === 125) return false
  do {
    const key = readKey(cursor)
    if (key === 'features') return true
    if (['properties', 'geometry', 'coordinates', 'geometries'].includes(key)) return false
    const start = cursor.at
    const kind = skipValue(cursor)
    if (key === 'type' && cursor.bytes[start] === 34)
      return isCollectionType(textIn(cursor.bytes, start, cursor.at, kind))
  } while (hasNext(cursor, 125))
  return false
}

function isCollectionType(type: string): boolean {
  if (type === 'Topology')
    throw new ReadFault('wrong_format', 'The file is TopoJSON with "type" at its end. Put "type": "Topology" first.')
  return type === 'FeatureCollection'
}

function readMember(state: State): void {
  const { cursor } = state
  const isEnd = state.isFirst ? peek(cursor) === 125 : !hasNext(cursor, 125)
  if (isEnd) {
    if (state.isFirst) cursor.at++
    moveTo(state, 'outside')
    return
  }
  const key = readKey(cursor)
  if (key === 'features') {
    if (peek(cursor) !== 91) fail(cursor, 'a list of features')
    cursor.at++
    moveTo(state, 'features')
    return
  }
  const start = cursor.at
  skipValue(cursor)
  if (key === 'crs') state.facts.crs = JSON.parse(cursor.bytes.toString('utf8', start, cursor.at))
  state.isFirst = false
}
