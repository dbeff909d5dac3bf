/**
 * Walks over the items of a list and the members of an object in the bytes of JSON, without parsing them. `JsonScanner` finds where a value
 * ends, and counts it on the way.
 */
import { ApiError } from '../errors.ts'
import type { JsonScanner } from './json-scanner.ts'
import { quote, TextSearch } from './json-text.ts'

export const openBrace = 0x7b
const closeBrace = 0x7d
export const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c
const colon = 0x3a

const tooShort = (): ApiError => new ApiError('invalid_json', 'The body is not valid JSON: it ends too early.')

/** The answer to bytes that cannot follow here. */
export function faultAt(bytes: Uint8Array, at: number): ApiError {
  if (at >= bytes.length) return tooShort()
  return new ApiError('invalid_json', `The body is not valid JSON: fault at position ${at}.`)
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

export function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from
  while (isSpace(bytes[at])) at++
  return at
}

/** To the next item or member. */
export function skipComma(bytes: Uint8Array, from: number): number {
  const at = skipSpace(bytes, from)
  return bytes[at] === comma ? skipSpace(bytes, at + 1) : at
}

/** Nothing but space may follow. */
export function checkEnd(bytes: Uint8Array, from: number): void {
  const end = skipSpace(bytes, from)
  if (end < bytes.length) throw faultAt(bytes, end)
}

/** The offset behind a list or object, which the scanner counts. */
export function endOfPart(bytes: Uint8Array, start: number, scanner: JsonScanner): number {
  const end = scanner.feedOne(bytes, start)
  if (end > bytes.length) throw tooShort()
  return end
}

/** The items of a list from its bracket on, as `read` finds them; returns the offset of its closing bracket. */
export function* walkItems<Item extends { readonly end: number }>(
  bytes: Uint8Array,
  begin: number,
  read: (start: number, index: number) => Item,
): Generator<Item, number> {
  let at = skipSpace(bytes, begin + 1)
  if (bytes[at] === closeBracket) return at
  for (let index = 0; ; index++) {
    const item = read(at, index)
    yield item
    at = skipSpace(bytes, item.end)
    if (bytes[at] === closeBracket) return at
    at = afterMark(bytes, at, comma)
  }
}

export type JsonMember = {
  /** With its quotes, as it is written; cut if it is longer than any that is looked for. */
  readonly name: string
  readonly start: number
  /** Where its value ends, looked for when somebody asks. */
  readonly end: () => number
}

/** No name that is looked for is longer. */
const maxName = 16

/**
 * The members of an object from behind its brace, or from a further key on; returns the offset behind its end. `scannerOf` gives what counts a
 * member that is a list or an object.
 */
export function* walkMembers(
  bytes: Buffer,
  begin: number,
  scannerOf: (name: string, first: number) => JsonScanner,
): Generator<JsonMember, number> {
  let at = skipSpace(bytes, begin)
  while (bytes[at] === quote) {
    const nameEnd = endOfText(bytes, at)
    const name = bytes.toString('latin1', at, Math.min(nameEnd, at + maxName))
    const start = afterMark(bytes, skipSpace(bytes, nameEnd), colon)
    let valueEnd: number | undefined
    const end = (): number => {
      valueEnd ??= endOfValue(bytes, start, (first) => scannerOf(name, first))
      return valueEnd
    }
    yield { name, start, end }
    at = skipComma(bytes, end())
  }
  if (bytes[at] !== closeBrace) throw faultAt(bytes, at)
  return at + 1
}

/** The next byte that is no space, behind this mark. */
function afterMark(bytes: Uint8Array, at: number, mark: number): number {
  if (bytes[at] !== mark) throw faultAt(bytes, at)
  return skipSpace(bytes, at + 1)
}

/** The offset behind the closing quote. */
function endOfText(bytes: Uint8Array, begin: number): number {
  const end = new TextSearch().find(bytes, begin + 1)
  if (end >= bytes.length) throw tooShort()
  return end + 1
}

function endOfValue(bytes: Uint8Array, begin: number, scannerOf: (first: number) => JsonScanner): number {
  const first = bytes[begin]
  if (first === quote) return endOfText(bytes, begin)
  if (first === openBrace || first === openBracket) return endOfPart(bytes, begin, scannerOf(first))
  let at = begin
  while (at < bytes.length && bytes[at] !== comma && bytes[at] !== closeBrace && !isSpace(bytes[at])) at++
  return at
}
