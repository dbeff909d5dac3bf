/** The draft of one cell: what is typed, and its conversion from and to the values of the API, without loss. */
import { prettyJson } from '../../../components/code-editor/pretty-json.ts'
import type { ColumnType } from '../attribute.ts'
import type { DatasetAttribute } from '../dataset.ts'
import { parseValue } from '../operators.ts'
import { parseExact, withDigits } from './exact-json.ts'

export interface CellDraft {
  /** `default`: the cell is left out, so that the database gives its value. */
  mode: 'value' | 'null' | 'default'
  text: string
  /** Longitude, latitude and height of a geometry that is edited as a point. */
  point?: readonly string[] | undefined
}

export type CellAttribute = Pick<DatasetAttribute, 'type' | 'dbType'> & Partial<DatasetAttribute>

export const leftOut: CellDraft = { mode: 'default', text: '' }
export const isNull: CellDraft = { mode: 'null', text: '' }

/** The draft of a value that the API answered. */
export function cellDraft({ type }: CellAttribute, value: unknown): CellDraft {
  if (value === null || value === undefined) return isNull
  const point = type === 'geometry' ? pointOf(value) : undefined
  return point ? { mode: 'value', text: '', point } : { mode: 'value', text: textOf(type, value) }
}

/** Types whose text is JSON. */
const isStructured = (type: ColumnType): boolean => type === 'json' || type === 'array' || type === 'geometry'

const textOf = (type: ColumnType, value: unknown): string =>
  isStructured(type) ? prettyExact(value) : String(withDigits(value))

/** The pretty printer knows nothing of numbers that are kept as digits. */
function prettyExact(value: unknown): string {
  const text = JSON.stringify(value)
  return JSON.stringify(JSON.parse(text)) === text ? prettyJson(JSON.parse(text)) : JSON.stringify(value, null, 2)
}

/** The coordinates of a GeoJSON point as texts; undefined for another geometry. */
export function pointOf(value: unknown): string[] | undefined {
  const { type, coordinates } = (value ?? {}) as { type?: unknown; coordinates?: unknown }
  return type === 'Point' && Array.isArray(coordinates) ? coordinates.map((one) => String(withDigits(one))) : undefined
}

export type DraftValue = { value: unknown } | { error: string } | { isLeftOut: true }

/** The value to send. Its type is checked as far as the page can; the server checks all. */
export function readCell(attribute: CellAttribute, { mode, text, point }: CellDraft): DraftValue {
  if (mode === 'default') return { isLeftOut: true }
  if (mode === 'null') return { value: null }
  const { type } = attribute
  if (point) return readPoint(point)
  if (isStructured(type)) return readStructured(type, text)
  if (type === 'string') return { value: text }
  if (type === 'binary' || attribute.dbType?.includes('time with time zone')) return { value: text.trim() }
  return parseValue(type, text)
}

const axes = ['a longitude', 'a latitude', 'a height']
const most = [360, 90, Number.MAX_VALUE]

function readPoint(point: readonly string[]): DraftValue {
  const coordinates: number[] = []
  for (const [index, text] of point.entries()) {
    if (text.trim() === '' && index === 2) break
    const number = text.trim() === '' ? Number.NaN : Number(text)
    if (!(Math.abs(number) <= (most[index] ?? 0))) return { error: `Type ${axes[index]} in ${units[index]}.` }
    coordinates.push(number)
  }
  return { value: { type: 'Point', coordinates } }
}

const units = ['degrees, such as 24.94', 'degrees from -90 to 90, such as 60.17', 'metres']

const shapes: Partial<Record<ColumnType, string>> = {
  json: 'Must be JSON, such as {"a": 1}.',
  array: 'Must be a list in JSON, such as ["a", "b"].',
  geometry: 'Must be a GeoJSON geometry, such as {"type": "Point", "coordinates": [24.94, 60.17]}.',
}

function readStructured(type: ColumnType, text: string): DraftValue {
  try {
    const value = parseExact(text)
    if (type === 'json') return { value }
    const isRight = type === 'array' ? Array.isArray(value) : typeof value === 'object' && value !== null
    if (isRight) return { value }
  } catch {
    // The text is not JSON: the same words as for a wrong value.
  }
  return { error: shapes[type] ?? '' }
}

/** What an emptied field means: only texts can be empty. */
export function emptied({ type, nullable }: CellAttribute, isNew: boolean): CellDraft {
  if (type === 'string') return { mode: 'value', text: '' }
  if (isNew) return leftOut
  return nullable ? isNull : { mode: 'value', text: '' }
}

export function isSameCell(one: CellDraft | undefined, other: CellDraft | undefined): boolean {
  if (one === other) return true
  return one?.mode === other?.mode && one?.text === other?.text && one?.point?.join() === other?.point?.join()
}
