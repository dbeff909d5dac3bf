// The rows in the body of a request: JSON, GeoJSON or CSV, as queries answer them.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ApiError, invalid } from '../errors.ts'
import { inspectColumns } from '../http/json-body.ts'
import { rowBudget, scanJson } from '../json-budget.ts'
import { keepDigits } from '../resource/exact-number.ts'
import { type CsvRecord, csvRecords } from './csv-records.ts'
import type { EditTable } from './edit-table.ts'
import { splitJson } from './split-json.ts'

export type GivenCell = { readonly name: string; readonly value: unknown; readonly path: string }

export type GivenRow = {
  /** Where it is in the body, for messages. */
  readonly path: string
  readonly cells: readonly GivenCell[]
  readonly isFeature: boolean
  /** Values are texts, which JSON and lists have to be read from. */
  readonly isText: boolean
}

/** `isOne`: the body is a row and no list of rows, so the answer is a row, too. */
export type GivenBody = {
  readonly isOne: boolean
  readonly isFeature: boolean
  readonly rows: AsyncIterable<GivenRow>
}

type Names = Pick<EditTable, 'columns' | 'key'>

/** Of a body with rows. */
export const maxBodyBytes = 8 * 1_048_576

/** How long rows are read before others have a turn. */
const turnMs = 10

export function readBody(body: unknown, contentType: string | undefined, table: Names): GivenBody {
  if (!Buffer.isBuffer(body) || body.length === 0) throw invalid('body', 'is required, as JSON, GeoJSON or CSV')
  const text = body.toString()
  if (/^text\/csv/i.test(contentType ?? '')) return many(csvRows(text, table))
  const parts = splitJson(text)
  if (!('one' in parts)) return many(jsonRows(parts.many, parts.path, table))
  return bodyOf(readOne(parts.one, 'body', table))
}

export const bodyOf = (row: GivenRow): GivenBody => ({ isOne: true, isFeature: row.isFeature, rows: once(row) })

/** The one row of a body that must be one. */
export const readOneRow = (text: unknown, table: Names): GivenRow => readOne(given(text), 'body', table)

/** The one object of a body that must be one. */
export const readObject = (text: unknown): object => objectOf(given(text), 'body')

function given(body: unknown): string {
  if (!Buffer.isBuffer(body) || body.length === 0) throw invalid('body', 'is required, as JSON')
  return body.toString()
}

const many = (rows: Iterable<GivenRow> | AsyncIterable<GivenRow>): GivenBody => ({
  isOne: false,
  isFeature: false,
  rows: inTurns(rows),
})

async function* once(row: GivenRow): AsyncGenerator<GivenRow> {
  yield row
}

async function* inTurns(rows: Iterable<GivenRow> | AsyncIterable<GivenRow>): AsyncGenerator<GivenRow> {
  let since = performance.now()
  for await (const row of rows) {
    yield row
    if (performance.now() - since < turnMs) continue
    await nextTurn()
    since = performance.now()
  }
}

function* jsonRows(texts: Iterable<string>, root: string, table: Names): Generator<GivenRow> {
  let index = 0
  for (const text of texts) yield readOne(text, `${root}/${index++}`, table)
}

function readOne(text: string, path: string, table: Names): GivenRow {
  const value = objectOf(text, path)
  return isFeature(value, table) ? featureRow(value, path, table) : plainRow(value, path)
}

function objectOf(text: string, path: string): object {
  const { mayOverflow } = scanJson(Buffer.from(text), rowBudget, path)
  const value = parseExact(text, path)
  inspectColumns(value, path, { text, mayOverflow })
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw invalid(path, 'must be a row, such as {"name": "Oslo"}, or a GeoJSON feature')
}

/** Numbers that a double would round stay as they are written, as raw JSON. */
function parseExact(text: string, path: string): unknown {
  try {
    return /\d{16}|\d[.\d]{15}|e\+?\d{3}/i.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text)
  } catch (error) {
    throw new ApiError('invalid_json', `The body is not valid JSON: fault in ${path}.`, { cause: error })
  }
}

export type Feature = { readonly id?: unknown; readonly geometry?: unknown; readonly properties?: unknown }

/** A table may have a column called type. */
const isFeature = (value: object, { columns }: Names): value is Feature =>
  'type' in value && value.type === 'Feature' && !columns.has('type') && ('properties' in value || 'geometry' in value)

const plainRow = (row: object, path: string): GivenRow => ({
  path,
  cells: cellsOf(row, path),
  isFeature: false,
  isText: false,
})

const cellsOf = (row: object, path: string): GivenCell[] =>
  Object.entries(row).map(([name, value]) => ({ name, value, path: `${path}/${name.slice(0, 100)}` }))

/** The id of a feature is the key, and its geometry the first geometry of the row. */
export function featureRow({ id, geometry, properties }: Feature, path: string, { columns, key }: Names): GivenRow {
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

function* csvRows(text: string, table: Names): Generator<GivenRow> {
  let names: readonly string[] | undefined
  for (const { fields, line } of csvRecords(text, table.columns.size)) {
    if (names) yield csvRow(names, fields, `body/line ${line}`)
    else names = headerOf(fields)
  }
}

function headerOf(fields: CsvRecord['fields']): string[] {
  const names = fields.map((name) => name ?? '')
  const seen = new Set<string>()
  const twice = names.find((name) => seen.size === seen.add(name).size)
  if (twice !== undefined) throw invalid('body/line 1', `must not name the column "${twice.slice(0, 100)}" twice`)
  return names
}

function csvRow(names: readonly string[], fields: CsvRecord['fields'], path: string): GivenRow {
  const cells = names.map((name, index) => ({
    name,
    value: fields[index] ?? null,
    path: `${path}/${name.slice(0, 100)}`,
  }))
  for (const { value, path } of cells) if (value?.includes('\0')) throw invalid(path, 'must not contain NUL')
  return { path, cells, isFeature: false, isText: true }
}
