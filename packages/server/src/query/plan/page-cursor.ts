// Opaque page cursors for keyset paging: URL-safe text that only this module reads. They are not signed, because a
// cursor can express nothing that a filter could not; a forged one is validated like any other input.
import { createHash } from 'node:crypto'
import { invalid } from '../../kernel/errors.ts'
import type { Filter } from '../filter/filter-tree.ts'
import type { Attribute, ScalarType } from '../values/attribute.ts'
import { isScalarType } from '../values/value.ts'
import { isByKey } from './keyset.ts'
import type { KeysetPosition, SortOrder } from './plan.ts'

export type PageCursor = {
  /** Rows on the previous pages. */
  readonly passed: number
  /** The position of the last row. When absent, the next page starts at offset `passed`. */
  readonly position: KeysetPosition | undefined
}

/** The query a cursor belongs to. For any other query its position is meaningless. */
export type Walk = {
  readonly datasetId: string
  readonly key: readonly Attribute[]
  readonly order: readonly SortOrder[]
  readonly where: Filter
}

const version = 1

/** Some proxies refuse URLs and headers of more than about 4 000 bytes. */
const maxLength = 2_000

/** Leaves the position out if it is too long for a URL or would be refused when it comes back. */
export function encodeCursor(walk: Walk, { passed, position }: PageCursor): string {
  const { dataset, order, filter } = digestsOf(walk)
  const write = (values: KeysetPosition | null) => encode([version, dataset, order, filter, passed, values])
  const whole = write(position && isPosition(position, walk) ? position : null)
  return whole.length <= maxLength ? whole : write(null)
}

const encode = (content: unknown[]): string => Buffer.from(JSON.stringify(content)).toString('base64url')

export function decodeCursor(text: string, walk: Walk, path: string): PageCursor {
  const [format, dataset, order, filter, passed, position] = contentOf(text) ?? []
  if (format !== version) throw refused(path)
  const expected = digestsOf(walk)
  if (dataset !== expected.dataset) throw invalid(path, 'must be used with the dataset that it came from')
  if (order !== expected.order) throw invalid(path, `must be used with the same sort or order, ${orLeaveOut}`)
  if (filter !== expected.filter) throw invalid(path, `must be used with the same filter or where, ${orLeaveOut}`)
  if (!Number.isSafeInteger(passed) || Number(passed) < 0) throw refused(path)
  if (position === null) return { passed: Number(passed), position: undefined }
  if (!isPosition(position, walk)) throw refused(path)
  return { passed: Number(passed), position }
}

const orLeaveOut = 'as on the page that it came from; leave it empty to begin with the first page'

const refused = (path: string) =>
  invalid(path, 'must be the cursor of a Link that this server gave; leave it empty to begin with the first page')

function contentOf(text: string): unknown[] | undefined {
  if (text.length > maxLength || !/^[\w-]+$/.test(text)) return undefined
  try {
    const content: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(content) ? content : undefined
  } catch {
    return undefined
  }
}

function digestsOf({ datasetId, order, where }: Walk) {
  const terms = order.map(({ by, isDescending }) => {
    const { attribute, type, distanceTo, isTieBreaker } = by
    return [attribute?.name, type, distanceTo, isDescending, isTieBreaker === true]
  })
  return { dataset: digest(datasetId), order: digest(terms), filter: digest(where) }
}

const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 8)

/** PostgreSQL's text of each type as a column may hold it, including NaN, infinity and BC years. */
const forms: { readonly [type in ScalarType]: RegExp } = {
  string: /^[^\0]*$/,
  integer: /^-?\d{1,19}$/,
  number: /^(?:-?\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?|NaN|-?Infinity)$/,
  boolean: /^(?:true|false)$/,
  date: /^(?:\d{4,7}-\d\d-\d\d(?: BC)?|-?infinity)$/,
  datetime: /^(?:\d{4,6}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d(?::\d\d){0,2})?(?: BC)?|-?infinity)$/,
  time: /^\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:[+-]\d\d(?::\d\d){0,2})?$/,
  uuid: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/,
}

function isPosition(value: unknown, { order, key }: Walk): value is KeysetPosition {
  if (!Array.isArray(value) || value.length !== order.length) return false
  return order.every((term, index) => {
    const at: unknown = value[index]
    const { type, attribute } = term.by
    if (at === null) return !isByKey(term, key)
    if (typeof at !== 'string' || !at.isWellFormed()) return false
    const form = attribute?.isNative || attribute?.isOrdered ? 'string' : type
    return isScalarType(form) && forms[form].test(at)
  })
}
