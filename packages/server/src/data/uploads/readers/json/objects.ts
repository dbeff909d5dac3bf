import { openBrace, openBracket } from '../../../../query/geometry/encoding/character-codes.ts'
import { closeTextWindow, fillTextWindow, openTextWindow, shareRead } from '../engine/text-window.ts'
import { fail, peek, skipValue } from '../geojson/cursor.ts'
import { createItemState, type ItemFormat, readOn } from './items.ts'
import { isListOfObjects, type RecordsMember } from './shape.ts'

export type ObjectBatch = { texts: string[]; fraction: number }

const windowBytes = 512 * 1024

/** Reads the records of a JSON file as texts, in batches, with memory for one window or one record. */
export async function* readObjects(
  file: string,
  records: RecordsMember,
  { signal, ignored = [] }: { signal: AbortSignal; ignored?: string[] },
): AsyncGenerator<ObjectBatch> {
  const window = openTextWindow(file, windowBytes)
  let texts: string[] = []
  const state = createItemState(
    window,
    recordFormat(records, (text) => texts.push(text), ignored),
  )
  try {
    while (fillTextWindow(window)) {
      signal.throwIfAborted()
      while (readOn(state));
      yield { texts, fraction: shareRead(window) }
      texts = []
    }
  } finally {
    closeTextWindow(window)
  }
}

/** `ignored` takes the names of other lists of objects, which are not read. */
function recordFormat({ member, keyName }: RecordsMember, take: (text: string) => void, ignored: string[]): ItemFormat {
  return {
    kindOf(_, first) {
      if (keyName !== undefined) return first === openBrace ? 'members' : 'item'
      if (member === undefined) return first === openBracket ? 'list' : 'item'
      return first === openBrace ? 'members' : 'item'
    },
    readItem(cursor) {
      peek(cursor)
      const start = cursor.at
      skipValue(cursor)
      // A number may go on behind the window.
      if (cursor.at >= cursor.end && !cursor.isLast) fail(cursor, 'an object')
      take(cursor.bytes.toString('utf8', start, cursor.at))
    },
    skipMember(cursor, key) {
      if (keyName !== undefined) {
        peek(cursor)
        const start = cursor.at
        skipValue(cursor)
        take(withKey(cursor.bytes.toString('utf8', start, cursor.at), keyName, key))
        return true
      }
      if (key === member && peek(cursor) === openBracket) return false
      const isList = isListOfObjects(cursor)
      skipValue(cursor)
      if (isList && !ignored.includes(key)) ignored.push(key)
      return true
    },
  }
}

/** The object with one more member before its own. */
function withKey(text: string, keyName: string, key: string): string {
  if (!text.startsWith('{')) return text
  const rest = text.slice(1).trimStart()
  return `{${JSON.stringify(keyName)}:${JSON.stringify(key)}${rest.startsWith('}') ? '' : ','}${rest}`
}
