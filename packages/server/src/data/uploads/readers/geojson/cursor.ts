import * as codes from '../../../../query/geometry/encoding/character-codes.ts'
import { powersOfTen, safeLimit } from '../../../../query/geometry/encoding/plain-number.ts'
import type { TextWindow } from '../engine/text-window.ts'
import { ReadFault } from '../reader.ts'

/** What is read of a window of a JSON file. */
export type TextCursor = Pick<TextWindow, 'bytes' | 'view' | 'at' | 'end' | 'isLast' | 'hasPoint'>

// As constants of this module: V8 does not fold imported ones.
const { backslash, carriageReturn, closeBrace, closeBracket, colon, comma, lineFeed, lowerA, lowerE, lowerF, lowerN } =
  codes
const { lowerCaseBit, lowerT, lowerU, minus, nine, openBrace, openBracket, period, plus, quote, space, tab, zero } =
  codes

/** Thrown when the window ends too early: it is widened and the unit read again from its start. */
export const incomplete = new Error('The window ends too early')

const maxDepth = 512

/** What a token of JSON is; `text` has no escapes. */
export const token = { null: 0, true: 1, false: 2, integer: 3, float: 4, exponent: 5, text: 6, escaped: 7, nested: 8 }

/** The bytes here are not what they must be: more are needed, the file was cut, or it is no JSON. */
export function fail(cursor: TextCursor, expected: string): never {
  if (cursor.at < cursor.end) throw new ReadFault('invalid_json', `The JSON is not valid: ${expected} was expected.`)
  if (cursor.isLast) throw new ReadFault('truncated', 'The file ends in the middle of the JSON.')
  throw incomplete
}

/** The byte after blanks; 0 at the end of the window. */
export function peek(cursor: TextCursor): number {
  let byte = cursor.bytes[cursor.at] as number
  while (byte <= space && (byte === space || byte === lineFeed || byte === carriageReturn || byte === tab))
    byte = cursor.bytes[++cursor.at] as number
  return byte
}

/** Steps over one byte, which must be there after blanks. */
export function take(cursor: TextCursor, byte: number): void {
  if (peek(cursor) !== byte) fail(cursor, String.fromCharCode(byte))
  cursor.at++
}

/** After an item: true when a comma says that another follows, false at the closing byte; steps over either. */
export function hasNext(cursor: TextCursor, closing: number): boolean {
  const byte = peek(cursor)
  if (byte !== comma && byte !== closing) fail(cursor, `, or ${String.fromCharCode(closing)}`)
  cursor.at++
  return byte === comma
}

/** Steps over a string and answers whether it has escapes. */
export function skipString(cursor: TextCursor): number {
  const { bytes } = cursor
  if (bytes[cursor.at] !== quote) fail(cursor, 'a string')
  let at = cursor.at + 1
  let kind = token.text
  for (;;) {
    const byte = bytes[at] as number
    if (byte === quote) break
    if (byte === backslash) {
      kind = token.escaped
      at = escapeEnd(cursor, at)
    } else if (byte < space) {
      cursor.at = at
      fail(cursor, 'the end of a string')
    } else at++
  }
  cursor.at = at + 1
  return kind
}

/** Which bytes may follow a backslash. */
const escapable = new Set(Buffer.from('"\\/bfnrt'))

function escapeEnd(cursor: TextCursor, at: number): number {
  const { bytes } = cursor
  if (escapable.has(bytes[at + 1] as number)) return at + 2
  cursor.at = at + 1
  if (bytes[at + 1] !== lowerU) fail(cursor, 'an escape')
  for (let digit = at + 2; digit < at + 6; digit++) {
    const lower = (bytes[digit] as number) | lowerCaseBit
    const isHex = isDigit(bytes[digit] as number) || (lower >= lowerA && lower <= lowerF)
    if (!isHex) {
      cursor.at = digit
      fail(cursor, 'four hexadecimal digits')
    }
  }
  return at + 6
}

export function isDigit(byte: number): boolean {
  return byte >= zero && byte <= nine
}

function digitsEnd(cursor: TextCursor, start: number): number {
  let at = start
  while (isDigit(cursor.bytes[at] as number)) at++
  cursor.at = at
  if (at === start) fail(cursor, 'a digit')
  return at
}

/** Steps over a number and answers which kind it is. It may go on behind the window: what must follow it is missing then. */
function skipNumber(cursor: TextCursor): number {
  const { bytes } = cursor
  let at = cursor.at
  if (bytes[at] === minus) at++
  at = bytes[at] === zero ? at + 1 : digitsEnd(cursor, at)
  let kind = token.integer
  if (bytes[at] === period) {
    kind = token.float
    at = digitsEnd(cursor, at + 1)
  }
  if (((bytes[at] as number) | lowerCaseBit) === lowerE) {
    kind = token.exponent
    const sign = bytes[at + 1]
    const start = sign === plus || sign === minus ? at + 2 : at + 1
    at = digitsEnd(cursor, start)
    if (at - start > 4) fail({ ...cursor, at: start }, 'a smaller exponent')
  }
  cursor.at = at
  return kind
}

function skipWord(cursor: TextCursor, word: string, kind: number): number {
  for (let index = 0; index < word.length; index++) {
    if (cursor.bytes[cursor.at] !== word.charCodeAt(index)) fail(cursor, word)
    cursor.at++
  }
  return kind
}

/** Steps over any value, checking it, and answers its kind. The cursor then stands behind it. */
export function skipValue(cursor: TextCursor, depth = 0): number {
  const byte = peek(cursor)
  if (byte === quote) return skipString(cursor)
  if (isDigit(byte) || byte === minus) return skipNumber(cursor)
  if (byte === lowerN) return skipWord(cursor, 'null', token.null)
  if (byte === lowerT) return skipWord(cursor, 'true', token.true)
  if (byte === lowerF) return skipWord(cursor, 'false', token.false)
  if (byte !== openBrace && byte !== openBracket) fail(cursor, 'a value')
  if (depth >= maxDepth) throw new ReadFault('invalid_json', `The JSON is nested deeper than ${maxDepth}.`)
  cursor.at++
  if (byte === openBrace) skipMembers(cursor, depth)
  else skipItems(cursor, depth)
  return token.nested
}

function skipItems(cursor: TextCursor, depth: number): void {
  if (peek(cursor) === closeBracket) cursor.at++
  else
    do skipValue(cursor, depth + 1)
    while (hasNext(cursor, closeBracket))
}

function skipMembers(cursor: TextCursor, depth: number): void {
  if (peek(cursor) === closeBrace) {
    cursor.at++
    return
  }
  do {
    peek(cursor)
    skipString(cursor)
    take(cursor, colon)
    skipValue(cursor, depth + 1)
  } while (hasNext(cursor, closeBrace))
}

/** The number in these bytes, which are known to be one. Exact: digits below 2^53 over a power of ten that a double holds. */
export function numberIn(bytes: Buffer, start: number, end: number): number {
  let mantissa = 0
  let fractionStart = end
  const isNegative = bytes[start] === minus
  for (let at = isNegative ? start + 1 : start; at < end; at++) {
    const byte = bytes[at] as number
    if (byte >= zero) {
      if (byte > nine) return Number(bytes.toString('latin1', start, end))
      mantissa = mantissa * 10 + byte - zero
    } else if (byte === period) fractionStart = at + 1
    else return Number(bytes.toString('latin1', start, end))
  }
  const scale = end - fractionStart
  if (mantissa >= safeLimit || scale > 22) return Number(bytes.toString('latin1', start, end))
  const value = mantissa / (powersOfTen[scale] as number)
  return isNegative ? -value : value
}

/** The string between the quotes of a token. */
export function textIn(bytes: Buffer, start: number, end: number, kind: number): string {
  return kind === token.escaped
    ? JSON.parse(bytes.toString('utf8', start, end))
    : bytes.toString('utf8', start + 1, end - 1)
}

/** Whether the string that starts here, a quote, is exactly this one, written without escapes. */
export function isString(bytes: Buffer, start: number, end: number, text: string): boolean {
  if (end - start !== text.length + 2) return false
  for (let index = 0; index < text.length; index++) {
    if (bytes[start + 1 + index] !== text.charCodeAt(index)) return false
  }
  return true
}

/** Reads the name of a member and its colon; the cursor stands at the value then. */
export function readKey(cursor: TextCursor): string {
  peek(cursor)
  const start = cursor.at
  const kind = skipString(cursor)
  const key = textIn(cursor.bytes, start, cursor.at, kind)
  take(cursor, colon)
  peek(cursor)
  return key
}
