/** Formatting of attributes by type. Never by `typeof`, because large integers and decimals are strings. */
import { isNumeric } from '@graticule/map/recipe'
import type { IconName } from '../../components/icons.ts'
import type { DatasetAttribute } from './dataset.ts'

export type ColumnType = DatasetAttribute['type']

const looks: Record<ColumnType, { icon: IconName; label: string }> = {
  string: { icon: 'text', label: 'Text' },
  integer: { icon: 'hash', label: 'Whole number' },
  number: { icon: 'hash', label: 'Number' },
  boolean: { icon: 'toggle', label: 'True or false' },
  date: { icon: 'calendar', label: 'Date' },
  datetime: { icon: 'calendar', label: 'Date and time' },
  time: { icon: 'clock', label: 'Time' },
  uuid: { icon: 'tag', label: 'UUID' },
  json: { icon: 'braces', label: 'JSON' },
  array: { icon: 'braces', label: 'List' },
  binary: { icon: 'file', label: 'Bytes' },
  geometry: { icon: 'globe', label: 'Geometry' },
}

export const typeIcon = (type: ColumnType): IconName => looks[type].icon

/** "Whole number", "Geometry: Point" */
export const typeLabel = ({ type, geometryType }: Pick<DatasetAttribute, 'type' | 'geometryType'>): string =>
  geometryType ? `${looks[type].label}: ${geometryType}` : looks[type].label

/** Numbers are right-aligned, including the column's header. */
export const alignmentOf = (type: ColumnType): 'start' | 'end' => (isNumeric(type) ? 'end' : 'start')

const orderedTypes: readonly ColumnType[] = [
  ...(['string', 'integer', 'number', 'boolean'] as const),
  ...(['date', 'datetime', 'time', 'uuid'] as const),
]
export const isSortable = (type: ColumnType): boolean => orderedTypes.includes(type)

/** Intl formats decimal strings exactly, without rounding to a double. */
const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 20 })
const decimalText = /^-?\d+(\.\d+)?$/

/** Formats a cell; null if there is no value. Digits of keys are not grouped, because they are names, not amounts. */
export function formatCell(attribute: Pick<DatasetAttribute, 'type' | 'primaryKey'>, value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (isNumeric(attribute.type)) return attribute.primaryKey ? String(value) : formatNumeric(value)
  if (attribute.type === 'datetime') return String(value).replace('T', ' ')
  if (attribute.type === 'binary') return `${Math.floor((String(value).replace(/=+$/, '').length * 3) / 4)} bytes`
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function formatNumeric(value: unknown): string {
  if (typeof value === 'number') return numbers.format(value)
  const text = String(value)
  return decimalText.test(text) ? numbers.format(text as `${number}`) : text
}
