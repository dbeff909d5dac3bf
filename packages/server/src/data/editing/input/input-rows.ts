// The rows in the body of a request: JSON, GeoJSON or CSV, as queries answer them.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { invalid } from '../../../kernel/errors.ts'
import type { EditTable } from '../writing/edit-table.ts'
import { csvRows } from './csv-rows.ts'
import type { InputCell, InputRow } from './input-row.ts'
import { parseRow } from './parse-row.ts'
import { findRows, type JsonPart, splitRows, wholeBody } from './split-rows.ts'

/** `isOne`: the body is a row and no list of rows, so the answer is a row, too. */
export type RowsBody = {
  readonly isOne: boolean
  readonly isFeature: boolean
  /** Reads the rows, from the first on each time, because those of a large body are not kept. */
  rows(): AsyncIterable<InputRow>
}

type Names = Pick<EditTable, 'columns' | 'key'>

/** Of a body with rows. */
export const maxBodyBytes = 8 * 1_048_576

/** How long rows are read before others have a turn. */
const turnMs = 5

export function readBody(body: unknown, contentType: string | undefined, table: Names): RowsBody {
  const bytes = bytesOf(body, 'is required, as JSON, GeoJSON or CSV')
  if (/^text\/csv/i.test(contentType ?? '')) return many(() => csvRows(bytes, table))
  const list = findRows(bytes)
  if (list) return many(() => jsonRows(splitRows(bytes, list), table))
  return bodyOf(rowOf(wholeBody(bytes), table))
}

export const bodyOf = (row: InputRow): RowsBody => ({ isOne: true, isFeature: row.isFeature, rows: () => once(row) })

/** The one row of a body that must be one. */
export const readOneRow = (body: unknown, table: Names): InputRow => rowOf(wholeBody(bytesOf(body)), table)

/** The one object of a body that must be one. */
export const readObject = (body: unknown): object => parseRow(wholeBody(bytesOf(body)))

function bytesOf(body: unknown, otherwise = 'is required, as JSON'): Buffer {
  if (Buffer.isBuffer(body) && body.length > 0) return body
  throw invalid('body', otherwise)
}

const many = (read: () => Iterable<InputRow> | AsyncIterable<InputRow>): RowsBody => ({
  isOne: false,
  isFeature: false,
  rows: () => yielding(read()),
})

async function* once(row: InputRow): AsyncGenerator<InputRow> {
  yield row
}

async function* yielding(rows: Iterable<InputRow> | AsyncIterable<InputRow>): AsyncGenerator<InputRow> {
  let since = performance.now()
  for await (const row of rows) {
    yield row
    if (performance.now() - since < turnMs) continue
    await nextTurn()
    since = performance.now()
  }
}

function* jsonRows(parts: Iterable<JsonPart>, table: Names): Generator<InputRow> {
  for (const part of parts) yield rowOf(part, table)
}

function rowOf(part: JsonPart, table: Names): InputRow {
  const value = parseRow(part)
  return isFeature(value, table) ? featureRow(value, part.path, table) : plainRow(value, part.path)
}

export type FeatureInput = { readonly id?: unknown; readonly geometry?: unknown; readonly properties?: unknown }

/** A table may have a column called type. */
const isFeature = (value: object, { columns }: Names): value is FeatureInput =>
  'type' in value && value.type === 'Feature' && !columns.has('type') && ('properties' in value || 'geometry' in value)

const plainRow = (row: object, path: string): InputRow => ({
  path,
  cells: cellsOf(row, path),
  isFeature: false,
  isText: false,
})

const cellsOf = (row: object, path: string): InputCell[] =>
  Object.entries(row).map(([name, value]) => ({ name, value, path: `${path}/${name.slice(0, 100)}` }))

/** The id of a feature is the key, and its geometry the first geometry of the row. */
export function featureRow(
  { id, geometry, properties }: FeatureInput,
  path: string,
  { columns, key }: Names,
): InputRow {
  if (typeof (properties ?? {}) !== 'object' || Array.isArray(properties))
    throw invalid(`${path}/properties`, 'must be an object')
  const cells = cellsOf(properties ?? {}, `${path}/properties`)
  const isGiven = (name: string | undefined): boolean => cells.some((cell) => cell.name === name)
  const place = columns.values().find(({ type }) => type === 'geometry')?.name
  if (geometry !== undefined && geometry !== null && place === undefined)
    throw invalid(`${path}/geometry`, 'must be left out: the table has no geometry')
  if (geometry !== undefined && place !== undefined && !isGiven(place))
    cells.push({ name: place, value: geometry, path: `${path}/geometry` })
  const [only, ...others] = key
  if (id !== undefined && only && others.length === 0 && !isGiven(only.name))
    cells.push({ name: only.name, value: id, path: `${path}/id` })
  return { path, cells, isFeature: true, isText: false }
}
