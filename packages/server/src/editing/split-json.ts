// Finds the rows in a JSON text, so that they can be parsed one by one: parsing all at once would block the event loop.
import { ApiError } from '../errors.ts'

const quote = 0x22
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c
const backslash = 0x5c

/** The texts of the rows, or the one text that is not a list of rows. */
export type JsonParts = { readonly one: string } | { readonly many: Iterable<string>; readonly path: string }

/** A list, or the features of a FeatureCollection. */
export function splitJson(text: string): JsonParts {
  const begin = skipSpace(text, 0)
  if (text.charCodeAt(begin) === openBracket) return { many: wholeList(text, begin), path: 'body' }
  const features = text.charCodeAt(begin) === openBrace ? featuresOf(text, begin) : undefined
  return features === undefined ? { one: text } : { many: items(text, features), path: 'body/features' }
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (/[ \t\n\r]/.test(text.charAt(at))) at++
  return at
}

const tooShort = (): ApiError => new ApiError('invalid_json', 'The body is not valid JSON: it ends too early.')
const faultAt = (at: number): ApiError =>
  new ApiError('invalid_json', `The body is not valid JSON: fault at position ${at}.`)

/** The place behind the closing quote. */
function endOfString(text: string, begin: number): number {
  for (let at = text.indexOf('"', begin + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === backslash) slashes++
    if (slashes % 2 === 0) return at + 1
  }
  throw tooShort()
}

/** What a character does to the depth of nesting. */
function step(code: number): number {
  if (code === openBrace || code === openBracket) return 1
  return code === closeBrace || code === closeBracket ? -1 : 0
}

/** The place behind a value. Whether it is valid is seen when it is parsed. */
function endOfValue(text: string, begin: number): number {
  const first = text.charCodeAt(begin)
  if (first === quote) return endOfString(text, begin)
  return step(first) === 1 ? endOfNested(text, begin) : endOfPlain(text, begin)
}

/** Of an object or a list. */
function endOfNested(text: string, begin: number): number {
  let depth = 0
  for (let at = begin; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at) - 1
    else depth += step(code)
    if (depth === 0) return at + 1
  }
  throw tooShort()
}

/** Of a number, true, false or null. */
function endOfPlain(text: string, begin: number): number {
  for (let at = begin; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === comma || step(code) === -1) return at
  }
  throw tooShort()
}

/** A list with nothing behind it. */
function* wholeList(text: string, begin: number): Generator<string> {
  checkEnd(text, yield* items(text, begin))
}

function checkEnd(text: string, closing: number): void {
  const end = skipSpace(text, closing + 1)
  if (end < text.length) throw faultAt(end)
}

/** Returns the place of the closing bracket. */
function* items(text: string, begin: number): Generator<string, number> {
  let at = skipSpace(text, begin + 1)
  if (text.charCodeAt(at) === closeBracket) return at
  for (;;) {
    const end = endOfValue(text, at)
    if (end === at) throw faultAt(at)
    yield text.slice(at, end)
    at = skipSpace(text, end)
    if (text.charCodeAt(at) === closeBracket) return at
    if (text.charCodeAt(at) !== comma) throw at >= text.length ? tooShort() : faultAt(at)
    at = skipSpace(text, at + 1)
  }
}

/** Where the list `features` of a FeatureCollection begins; undefined for any other object. */
function featuresOf(text: string, begin: number): number | undefined {
  let features: number | undefined
  let isCollection = false
  let at = skipSpace(text, begin + 1)
  while (text.charCodeAt(at) === quote) {
    const name = text.slice(at, endOfString(text, at))
    at = skipSpace(text, at + name.length)
    if (text[at] !== ':') throw faultAt(at)
    at = skipSpace(text, at + 1)
    const end = endOfValue(text, at)
    if (name === '"features"' && text.charCodeAt(at) === openBracket) features = at
    if (name === '"type"') isCollection = text.slice(at, end).trim() === '"FeatureCollection"'
    at = skipSpace(text, end)
    if (text.charCodeAt(at) === comma) at = skipSpace(text, at + 1)
  }
  if (!isCollection || features === undefined) return undefined
  if (text.charCodeAt(at) !== closeBrace) throw at >= text.length ? tooShort() : faultAt(at)
  checkEnd(text, at)
  return features
}
