/** The operators of the filter builder: their types, labels and keys in `where`. */
import { isNumeric } from '@graticule/map/recipe'
import { type ColumnType, formatCell } from './attribute.ts'

export type Scalar = string | number | boolean

export type OperatorName =
  | 'is'
  | 'isNot'
  | 'atLeast'
  | 'above'
  | 'atMost'
  | 'below'
  | 'between'
  | 'notBetween'
  | 'oneOf'
  | 'noneOf'
  | 'contains'
  | 'startsWith'
  | 'endsWith'
  | 'matches'
  | 'inBox'
  | 'isNull'
  | 'isNotNull'

interface Operator {
  /** Shown in the chip, between attribute and value. */
  sign: string
  /** Shown in the list of operators. */
  label: string
  /** The key in `where`; null uses that of another operator. */
  key: `$${string}`
  /** The number of values; a list takes any number. */
  takes: 'none' | 'one' | 'two' | 'list' | 'box'
  types: readonly ColumnType[]
}

const ordered = ['string', 'integer', 'number', 'date', 'datetime', 'time', 'uuid'] as const
const scalar = [...ordered, 'boolean'] as const
const all = [...scalar, 'json', 'array', 'binary', 'geometry'] as const

export const operators: Readonly<Record<OperatorName, Operator>> = {
  is: { sign: '=', label: 'is', key: '$eq', takes: 'one', types: scalar },
  isNot: { sign: '≠', label: 'is not', key: '$ne', takes: 'one', types: scalar },
  contains: { sign: 'contains', label: 'contains', key: '$iLike', takes: 'one', types: ['string'] },
  startsWith: { sign: 'starts with', label: 'starts with', key: '$startsWith', takes: 'one', types: ['string'] },
  endsWith: { sign: 'ends with', label: 'ends with', key: '$endsWith', takes: 'one', types: ['string'] },
  matches: { sign: 'is like', label: 'is like (% and _)', key: '$iLike', takes: 'one', types: ['string'] },
  atLeast: { sign: '≥', label: 'is at least', key: '$gte', takes: 'one', types: ordered },
  above: { sign: '>', label: 'is above', key: '$gt', takes: 'one', types: ordered },
  atMost: { sign: '≤', label: 'is at most', key: '$lte', takes: 'one', types: ordered },
  below: { sign: '<', label: 'is below', key: '$lt', takes: 'one', types: ordered },
  between: { sign: 'between', label: 'is between', key: '$between', takes: 'two', types: ordered },
  notBetween: { sign: 'not between', label: 'is not between', key: '$notBetween', takes: 'two', types: ordered },
  oneOf: { sign: 'is one of', label: 'is one of', key: '$in', takes: 'list', types: scalar },
  noneOf: { sign: 'is none of', label: 'is none of', key: '$notIn', takes: 'list', types: scalar },
  inBox: { sign: 'is in', label: 'is in the map’s view', key: '$intersects', takes: 'box', types: ['geometry'] },
  isNull: { sign: 'is null', label: 'is null', key: '$is', takes: 'none', types: all },
  isNotNull: { sign: 'is not null', label: 'is not null', key: '$ne', takes: 'none', types: all },
}

/** The default operator by type: numbers are usually compared, texts searched. */
const firstOf: Partial<Record<ColumnType, OperatorName>> = {
  string: 'contains',
  integer: 'atLeast',
  number: 'atLeast',
  date: 'atLeast',
  datetime: 'atLeast',
  geometry: 'inBox',
  json: 'isNotNull',
  array: 'isNotNull',
  binary: 'isNotNull',
}

export const operatorNames = Object.keys(operators) as OperatorName[]

export const operatorsOf = (type: ColumnType): OperatorName[] =>
  operatorNames.filter((name) => operators[name].types.includes(type))

export const defaultOperator = (type: ColumnType): OperatorName => firstOf[type] ?? 'is'

/** Parses typed text into a value of the type. */
export function parseValue(type: ColumnType, typed: string): { value: Scalar } | { error: string } {
  const text = type === 'string' ? typed : typed.trim()
  if (text === '') return { error: 'Type a value.' }
  if (isNumeric(type)) return parseNumber(type, text)
  const form = forms[type]
  if (form && !form.pattern.test(text)) return { error: `Must be ${form.example}.` }
  return { value: type === 'boolean' ? text === 'true' : text }
}

const forms: Partial<Record<ColumnType, { pattern: RegExp; example: string }>> = {
  boolean: { pattern: /^(true|false)$/, example: 'true or false' },
  date: { pattern: /^-?\d{4,}-\d\d-\d\d$/, example: 'a date such as 2026-01-31' },
  datetime: {
    pattern: /^-?\d{4,}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?)?$/,
    example: 'a date and time such as 2026-01-31T12:00:00Z',
  },
  time: { pattern: /^\d\d:\d\d(:\d\d(\.\d+)?)?$/, example: 'a time such as 12:30' },
  uuid: { pattern: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i, example: 'a UUID' },
}

/** Accepts blanks and underscores between digits; numbers beyond a double's precision stay strings. */
function parseNumber(type: ColumnType, text: string): { value: Scalar } | { error: string } {
  const bare = text.replaceAll(/[\s_\u00a0\u202f]/g, '')
  if (type === 'integer' && !/^-?\d+$/.test(bare)) return { error: 'Must be a whole number such as 1000.' }
  if (!/^-?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(bare)) return { error: 'Must be a number such as 12.5.' }
  const value = Number(bare)
  const isExact = type === 'number' ? Number.isFinite(value) && significant(bare) <= 15 : Number.isSafeInteger(value)
  return { value: isExact ? value : bare }
}

const significant = (text: string): number => text.replace(/e.*$/i, '').replaceAll(/^-?0*\.?0*|\./g, '').length

const quoted = (text: string): string => `“${text}”`

/** Formats a value for a chip: texts in quotes, numbers grouped. */
export const showValue = (type: ColumnType, value: Scalar): string =>
  type === 'string' ? quoted(String(value)) : (formatCell({ type, primaryKey: false }, value) ?? 'null')
