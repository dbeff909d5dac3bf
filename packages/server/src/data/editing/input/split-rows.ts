/**
 * Finds the rows in the bytes of a JSON body, one after the other: each is counted before it is parsed, and parsing all at once would
 * block the event loop and hold all of them in memory.
 */
import { type ApiError, invalid } from '../../../kernel/errors.ts'
import { rowBudget, rowsBudget } from '../../../kernel/json/json-budget.ts'
import { JsonScanner } from '../../../kernel/json/json-scanner.ts'
import {
  checkEnd,
  endOfPart,
  faultAt,
  type JsonMember,
  openBrace,
  openBracket,
  skipComma,
  skipSpace,
  walkItems,
  walkMembers,
} from '../../../kernel/json/json-walk.ts'
import { limits, overLimit } from '../../../kernel/limits/limits.ts'

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
  const end = yield* walkItems(bytes, begin, (start, index) => {
    const part = readPart(bytes, start, `${path}/${index}`)
    total += part.scanner.total
    if (total > most)
      throw overLimit('rowsValues', most, `must not have rows with more than ${most} values`, { path: 'body' })
    return part
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

/** Whether it is valid JSON is seen when it is parsed. */
function readPart(bytes: Buffer, start: number, path: string): JsonPart {
  const first = bytes[start]
  if (first !== openBrace && first !== openBracket) throw notRow(bytes, start, path)
  const scanner = new JsonScanner(rowBudget, path)
  return { bytes, start, end: endOfPart(bytes, start, scanner), scanner, path }
}

const scalarForm = /^(true|false|null|-?\d|")/

function notRow(bytes: Buffer, at: number, path: string): ApiError {
  return scalarForm.test(bytes.toString('latin1', at, at + 5)) ? rowExpected(path) : faultAt(bytes, at)
}

export const rowExpected = (path: string): ApiError =>
  invalid(path, 'must be a row, such as {"name": "Oslo"}, or a GeoJSON feature')

const featuresName = '"features"'

/** A member of what is one row may have as many values as a row, a list of features as many as all rows. */
const walkBody = (bytes: Buffer, begin: number): Generator<JsonMember, number> =>
  walkMembers(
    bytes,
    begin,
    (name, first) => new JsonScanner(name === featuresName && first === openBracket ? rowsBudget : rowBudget),
  )

/** A FeatureCollection has a handful of members; whatever has more than this is one row, and refused for its size if need be. */
const maxMembers = 1_000

/**
 * Where the list `features` of a FeatureCollection begins; undefined for any other object. Usually its type comes first, and
 * what follows the list is read after it.
 */
function featuresOf(bytes: Buffer, begin: number): number | undefined {
  let features: number | undefined
  let isCollection = false
  let count = 0
  for (const { name, start, end } of walkBody(bytes, begin + 1)) {
    if (name === '"type"') isCollection = bytes.toString('latin1', start, end()) === '"FeatureCollection"'
    if (name === featuresName && bytes[start] === openBracket) features = start
    if (isCollection && features !== undefined) return features
    if (++count > maxMembers) return undefined
  }
  return undefined
}

/** The offset behind a collection, of which the features are read. */
function endOfCollection(bytes: Buffer, from: number): number {
  const rest = walkBody(bytes, skipComma(bytes, from))
  for (let count = 0; count <= maxMembers; count++) {
    const { done, value } = rest.next()
    if (done) return value
  }
  throw invalid('body', `must not have more than ${maxMembers} members beside its features`)
}
