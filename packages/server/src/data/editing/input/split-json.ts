/**
 * Finds the rows in the bytes of a JSON body, one after the other: each is counted before it is parsed, and parsing all at once would
 * block the event loop and hold all of them in memory.
 */
import { ApiError, invalid } from '../../../kernel/errors.ts'
import { rowBudget, rowsBudget } from '../../../kernel/json/json-budget.ts'
import { JsonScanner } from '../../../kernel/json/json-scanner.ts'
import { TextSearch } from '../../../kernel/json/json-text.ts'
import { limits, overLimit } from '../../../kernel/limits/limits.ts'

const quote = 0x22
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c
const colon = 0x3a

/** A list or object in the bytes of a body, within the budget of a row. */
export type JsonPart = {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
  readonly scanner: JsonScanner
  readonly path: string
}

/** Where the list of rows begins: a list, or the features of a FeatureCollection. Undefined where the body is one row. */
export function findRows(bytes: Buffer): { readonly begin: number; readonly path: string } | undefined {
  const begin = skipSpace(bytes, 0)
  if (bytes[begin] === openBracket) return { begin, path: 'body' }
  const features = bytes[begin] === openBrace ? featuresOf(bytes, begin) : undefined
  return features === undefined ? undefined : { begin: features, path: 'body/features' }
}

/** The rows of a list, which are together within their budget too. */
export function* splitRows(bytes: Buffer, { begin, path }: { begin: number; path: string }): Generator<JsonPart> {
  const most = limits.rowsValues.value
  let total = 0
  const end = yield* items(bytes, begin, path, ({ scanner }) => {
    total += scanner.total
    if (total > most)
      throw overLimit('rowsValues', most, `must not have rows with more than ${most} values`, { path: 'body' })
  })
  checkEnd(bytes, path === 'body' ? end + 1 : endOfCollection(bytes, end + 1))
}

/** A body that is one list or object. */
export function wholeBody(bytes: Buffer): JsonPart {
  const start = skipSpace(bytes, 0)
  const part = readPart(bytes, start, 'body')
  checkEnd(bytes, part.end)
  return part
}

function* items(
  bytes: Buffer,
  begin: number,
  root: string,
  count: (part: JsonPart) => void,
): Generator<JsonPart, number> {
  let at = skipSpace(bytes, begin + 1)
  if (bytes[at] === closeBracket) return at
  for (let index = 0; ; index++) {
    const part = readPart(bytes, at, `${root}/${index}`)
    count(part)
    yield part
    at = skipSpace(bytes, part.end)
    if (bytes[at] === closeBracket) return at
    at = afterMark(bytes, at, comma)
  }
}

/** Whether it is valid JSON is seen when it is parsed. */
function readPart(bytes: Buffer, start: number, path: string): JsonPart {
  const first = bytes[start]
  if (first !== openBrace && first !== openBracket) throw notRow(bytes, start, path)
  const scanner = new JsonScanner(rowBudget, path)
  return { bytes, start, end: endOf(bytes, start, scanner), scanner, path }
}

const scalarForm = /^(true|false|null|-?\d|")/

function notRow(bytes: Buffer, at: number, path: string): ApiError {
  if (at >= bytes.length) return tooShort()
  return scalarForm.test(bytes.toString('latin1', at, at + 5)) ? rowExpected(path) : faultAt(at)
}

export const rowExpected = (path: string): ApiError =>
  invalid(path, 'must be a row, such as {"name": "Oslo"}, or a GeoJSON feature')

function endOf(bytes: Buffer, start: number, scanner: JsonScanner): number {
  const end = scanner.feedOne(bytes, start)
  if (end > bytes.length) throw tooShort()
  return end
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from
  while (isSpace(bytes[at])) at++
  return at
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

const tooShort = (): ApiError => new ApiError('invalid_json', 'The body is not valid JSON: it ends too early.')
const faultAt = (at: number): ApiError =>
  new ApiError('invalid_json', `The body is not valid JSON: fault at position ${at}.`)

/** The next byte that is no space, behind this mark. */
function afterMark(bytes: Buffer, at: number, mark: number): number {
  if (bytes[at] !== mark) throw at >= bytes.length ? tooShort() : faultAt(at)
  return skipSpace(bytes, at + 1)
}

function checkEnd(bytes: Buffer, from: number): void {
  const end = skipSpace(bytes, from)
  if (end < bytes.length) throw faultAt(end)
}

/** The place behind the closing quote. */
function endOfText(bytes: Buffer, begin: number): number {
  const end = new TextSearch().find(bytes, begin + 1)
  if (end >= bytes.length) throw tooShort()
  return end + 1
}

/** The place behind a member. A member of what is one row may have as many values as a row, a list of features as many as all rows. */
function endOfValue(bytes: Buffer, name: string, begin: number): number {
  const first = bytes[begin]
  if (first === quote) return endOfText(bytes, begin)
  const budget = name === featuresName && first === openBracket ? rowsBudget : rowBudget
  if (first === openBrace || first === openBracket) return endOf(bytes, begin, new JsonScanner(budget))
  let at = begin
  while (at < bytes.length && bytes[at] !== comma && bytes[at] !== closeBrace && !isSpace(bytes[at])) at++
  return at
}

type Member = { readonly name: string; readonly start: number; readonly end: () => number }

/** The members of an object from the quote of a key on; returns the place behind its end. */
function* membersFrom(bytes: Buffer, begin: number): Generator<Member, number> {
  let at = begin
  while (bytes[at] === quote) {
    const nameEnd = endOfText(bytes, at)
    const name = bytes.toString('latin1', at, Math.min(nameEnd, at + maxName))
    const start = afterMark(bytes, skipSpace(bytes, nameEnd), colon)
    let known: number | undefined
    const end = (): number => {
      known ??= endOfValue(bytes, name, start)
      return known
    }
    yield { name, start, end }
    at = skipSpace(bytes, end())
    if (bytes[at] === comma) at = skipSpace(bytes, at + 1)
  }
  if (bytes[at] !== closeBrace) throw at >= bytes.length ? tooShort() : faultAt(at)
  return at + 1
}

/** A FeatureCollection has a handful of members; whatever has more than this is one row, and refused for its size if need be. */
const maxMembers = 1_000
/** No name that is looked for is longer. */
const maxName = 16
const featuresName = '"features"'

/**
 * Where the list `features` of a FeatureCollection begins; undefined for any other object. Usually its type comes first, and
 * what follows the list is read after it.
 */
function featuresOf(bytes: Buffer, begin: number): number | undefined {
  let features: number | undefined
  let isCollection = false
  let count = 0
  for (const { name, start, end } of membersFrom(bytes, skipSpace(bytes, begin + 1))) {
    if (name === '"type"') isCollection = bytes.toString('latin1', start, end()) === '"FeatureCollection"'
    if (name === featuresName && bytes[start] === openBracket) features = start
    if (isCollection && features !== undefined) return features
    if (++count > maxMembers) return undefined
  }
  return undefined
}

/** The place behind a collection, of which the features are read. */
function endOfCollection(bytes: Buffer, from: number): number {
  const at = skipSpace(bytes, from)
  const rest = membersFrom(bytes, bytes[at] === comma ? skipSpace(bytes, at + 1) : at)
  for (let count = 0; count <= maxMembers; count++) {
    const { done, value } = rest.next()
    if (done) return value
  }
  throw invalid('body', `must not have more than ${maxMembers} members beside its features`)
}
