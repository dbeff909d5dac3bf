/** Cells of columns whose type the client gave. */
import { jsonOf } from '../engine/copy-binary.ts'
import { columnOf, type LocalColumn, plainValue } from '../engine/local-columns.ts'
import { readLocalDate } from '../engine/local-dates.ts'
import { plainDigits, readYesOrNo } from '../engine/local-numbers.ts'
import { parseTemporal } from '../engine/temporal.ts'
import { isJson, kind } from '../engine/type-inference.ts'
import type { FieldType } from '../reader.ts'
import type { LocalRules, TableColumnType, TableRules } from '../table-rules.ts'
import { fieldFault, unknownColumn } from './table-faults.ts'

/** A value as a value of this type; null for nothing, undefined when it cannot be read as one. */
export function readTyped(value: unknown, type: TableColumnType, rules: LocalRules): unknown {
  if (value === null || value === undefined) return null
  if (type === 'string') return textOf(value)
  const given = typeof value === 'string' ? value.trim() : value
  return given === '' ? null : readers[type](given, rules)
}

type ReadValue = (value: unknown, rules: LocalRules) => unknown

const textOf = (value: unknown): string => (typeof value === 'object' && value !== null ? jsonOf(value) : String(value))

const readers: Readonly<Record<Exclude<TableColumnType, 'string'>, ReadValue>> = {
  integer: (value, rules) => {
    const number = readNumber(value, rules)
    if (number === undefined || !/^-?\d+(\.0+)?$/.test(number)) return undefined
    const whole = BigInt(number.replace(/\..*/, ''))
    return whole === BigInt.asIntN(64, whole) ? whole : undefined
  },
  number: (value, rules) => {
    const number = Number(readNumber(value, rules) ?? Number.NaN)
    return Number.isFinite(number) ? number : undefined
  },
  boolean: (value) => readTruth(value),
  date: (value, rules) => readMoment(value, rules, /^date$/),
  datetime: (value, rules) => readMoment(value, rules, /^(date|timestamp|timestamptz)$/),
  time: (value) => {
    const text = /^\d{1,2}:\d\d$/.test(String(value)) ? `${value}:00` : String(value)
    const padded = text.padStart(8, '0')
    return parseTemporal(padded)?.kind === 'time' ? padded : undefined
  },
  uuid: (value) =>
    /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i.test(String(value)) ? String(value).toLowerCase() : undefined,
  json: (value) => (typeof value !== 'string' ? value : isJson(value) ? (JSON.parse(value) as unknown) : undefined),
}

const exponent = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i

/** As digits, so that long integers keep theirs. Without a word on decimals a comma is one where it cannot part thousands. */
function readNumber(value: unknown, { decimal }: LocalRules): string | undefined {
  if (typeof value === 'boolean' || typeof value === 'object') return undefined
  const text = String(value)
  if (typeof value !== 'string') return text
  if (decimal !== undefined) return plainDigits(text.replace(/^\+/, ''), decimal)
  if (exponent.test(text)) return text.replace(/^\+/, '')
  return plainDigits(text, '.') ?? plainDigits(text, ',')
}

const truths: Readonly<Record<string, boolean>> = { true: true, t: true, '1': true, false: false, f: false, '0': false }

function readTruth(value: unknown): boolean | undefined {
  const text = String(value).toLowerCase()
  return Object.hasOwn(truths, text) ? truths[text] : readYesOrNo(text)
}

function readMoment(value: unknown, { dateOrder }: LocalRules, kinds: RegExp): string | undefined {
  const text = value instanceof Date ? value.toISOString() : String(value)
  const plain = parseTemporal(text)
  if (plain) return kinds.test(plain.kind) ? text : undefined
  const isUnsettled = dateOrder === undefined && readLocalDate(text)?.order === 'either'
  const iso = isUnsettled ? undefined : plainValue(text, { of: 'date', order: dateOrder })
  const read = typeof iso === 'string' ? parseTemporal(iso) : undefined
  return read && kinds.test(read.kind) ? String(iso) : undefined
}

const nouns: Readonly<Record<TableColumnType, string>> = {
  string: 'a text',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  date: 'a date',
  datetime: 'a date with a time',
  time: 'a time',
  uuid: 'a UUID',
  json: 'JSON',
}

/** What is wrong with a value, for messages. */
export const notOfType = (type: TableColumnType): string => `is not ${nouns[type]}`

const fieldTypes: Readonly<Record<TableColumnType, (kinds: number) => FieldType>> = {
  string: () => 'text',
  integer: (kinds) => (kinds & kind.int8 ? 'bigint' : 'integer'),
  number: () => 'number',
  boolean: () => 'boolean',
  date: () => 'date',
  datetime: (kinds) => (kinds & kind.timestamptz ? 'timestamptz' : 'timestamp'),
  time: () => 'time',
  uuid: () => 'uuid',
  json: () => 'json',
}

/** The type of a column: as the client says, else by the kinds of its values. */
export const typedColumn =
  (rules: TableRules) =>
  (kinds: number, name: string, isAmongCommas: boolean): LocalColumn => {
    const type = chosenTypeOf(rules, name)
    return type ? { type: fieldTypes[type](kinds) } : columnOf(kinds, rules, isAmongCommas)
  }

export const chosenTypeOf = ({ types }: TableRules, name: string): TableColumnType | undefined =>
  types && Object.hasOwn(types, name) ? types[name] : undefined

/** Throws a fault where a type is given to a column that does not exist, or that most values of a sample do not have. */
export function demandTypes(rules: TableRules, names: readonly string[], cells: readonly (readonly string[])[]): void {
  for (const [name, type] of Object.entries(rules.types ?? {})) {
    const column = names.indexOf(name)
    if (column < 0) throw unknownColumn('types', name, names)
    const values = cells[column] ?? []
    const misfits = values.filter((value) => readTyped(value, type, rules) === undefined)
    if (misfits.length * 2 <= values.length) continue
    const hint = isUnsettledDate(misfits[0], type, rules) ? ' Give the field dateOrder: dmy or mdy.' : ''
    throw fieldFault(
      'types',
      `The column ${JSON.stringify(name)} holds values such as ${JSON.stringify(misfits[0]?.slice(0, 40))}, which ${notOfType(type)}.${hint}`,
    )
  }
}

const isUnsettledDate = (value: string | undefined, type: TableColumnType, { dateOrder }: LocalRules): boolean =>
  (type === 'date' || type === 'datetime') && dateOrder === undefined && readLocalDate(value ?? '')?.order === 'either'

/** Whether a value stands for nothing, as the client says. */
export function nullTest({ nulls }: TableRules): ((value: unknown) => boolean) | undefined {
  if (!nulls) return undefined
  const texts = new Set(nulls.map((text) => text.trim()))
  return (value) =>
    value !== null && value !== undefined && typeof value !== 'object' && texts.has(String(value).trim())
}
