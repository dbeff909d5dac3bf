// Checks a value against its column and writes it as the text that PostgreSQL reads. Faults are found here, with their place,
// because the database names neither the row nor more than one fault.

import { withDigits } from '../../../api/resource/documents/exact-number.ts'
import { invalid } from '../../../kernel/errors.ts'
import { rowBudget } from '../../../kernel/json/json-budget.ts'
import { scanJson } from '../../../kernel/json/json-scanner.ts'
import { didYouMean, shortList } from '../../../kernel/nearest-name.ts'
import { show } from '../../../query/values/fault.ts'
import { canonicalText, isScalarType } from '../../../query/values/value.ts'
import { typeOfColumn } from '../../databases/postgres/column-type.ts'
import type { EditColumn } from '../writing/edit-table.ts'
import { type GeometryOptions, geometryText } from './geometry-column.ts'

export type CellOptions = GeometryOptions & {
  /** The value is a text, also where JSON or a list is meant. */
  readonly isText: boolean
}

/** The text, or null. Throws a 400 that names the place. */
export function cellText(column: EditColumn, value: unknown, path: string, options: CellOptions): string | null {
  if (value === null || value === undefined) {
    if (column.isNotNull) throw invalid(path, 'must not be null')
    return null
  }
  if (column.geometry) return geometryText(value, column.geometry, path, options)
  return textOf(column, value, path, options.isText)
}

type Typed = Pick<EditColumn, 'type' | 'dbType' | 'labels'>

function textOf(column: Typed, value: unknown, path: string, isText: boolean): string {
  const { type } = column
  if (type === 'json') return isText ? jsonText(value, path) : JSON.stringify(value)
  if (type === 'array') return arrayText(column, isText ? parsedJson(value, path) : value, path)
  if (type === 'binary') return binaryText(value, path)
  const plain = withDigits(value)
  if (type === 'string') return stringText(column, plain, path)
  return scalarText(column, plain, path)
}

const scalars: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a finite number',
  boolean: 'true or false',
  date: 'a date such as 2027-01-31',
  datetime: 'a date-time such as 2027-01-31T12:00:00Z',
  time: 'a time such as 12:30:00',
  uuid: 'a UUID',
}

function scalarText({ type, dbType }: Typed, value: unknown, path: string): string {
  if (/^time(\(\d\))? with time zone/.test(dbType) && typeof value === 'string') return value
  const text = isScalarType(type) ? canonicalText(type, value) : undefined
  if (text === undefined) throw invalid(path, `must be ${scalars[type]}, not ${show(value)}`)
  if (type === 'integer') checkInteger(text, dbType, path)
  if (type === 'number') checkNumber(text, dbType, path)
  return text
}

const integerRanges: Readonly<Record<string, readonly [bigint, bigint]>> = {
  smallint: [-32_768n, 32_767n],
  integer: [-2_147_483_648n, 2_147_483_647n],
  oid: [0n, 4_294_967_295n],
}

function checkInteger(text: string, dbType: string, path: string): void {
  const [least, most] = integerRanges[dbType] ?? []
  if (least === undefined || most === undefined) return
  const value = BigInt(text)
  if (value < least || value > most) throw invalid(path, `must be from ${least} to ${most}`)
}

const largestReal = 3.4028235e38
const smallestReal = 1e-45

function checkNumber(text: string, dbType: string, path: string): void {
  const size = Math.abs(Number(text))
  if (dbType === 'real' && size !== 0 && (size > largestReal || size < smallestReal))
    throw invalid(path, 'must be a number that fits four bytes (real)')
  const [, precision, scale = '0'] = /^numeric\((\d+)(?:,(-?\d+))?\)$/.exec(dbType) ?? []
  const digits = Number(precision) - Number(scale)
  if (precision !== undefined && size >= 10 ** digits)
    throw invalid(path, `must have at most ${digits} digits before the decimal point (${dbType})`)
}

const isTextType = (dbType: string): boolean => /^(text|character varying|character|name|"char")/.test(dbType)

/** Types that queries take for strings, such as addresses and intervals, are read by the database. */
function stringText({ dbType, labels }: Typed, value: unknown, path: string): string {
  const isPlain = typeof value === 'string' || (!isTextType(dbType) && /^(number|boolean)$/.test(typeof value))
  const text = isPlain ? String(value) : canonicalText('string', value)
  if (text === undefined) throw invalid(path, `must be a text, not ${show(value)}`)
  const [, length] = /^character(?: varying)?\((\d+)\)$/.exec(dbType) ?? []
  if (length !== undefined && text.length > Number(length) && [...text].length > Number(length))
    throw invalid(path, `must have at most ${length} characters`)
  if (labels && !labels.includes(text))
    throw invalid(path, `must be one of: ${shortList(labels)}.${didYouMean(text, labels)}`)
  return text
}

function jsonText(value: unknown, path: string): string {
  parsedJson(value, path)
  return String(value)
}

/** Whatever is JSON inside of a text has the budget of a row. */
function parsedJson(value: unknown, path: string): unknown {
  const text = String(value)
  scanJson(Buffer.from(text), rowBudget, path)
  try {
    return JSON.parse(text)
  } catch {
    throw invalid(path, 'must be JSON')
  }
}

function arrayText({ dbType, labels }: Typed, value: unknown, path: string): string {
  if (!Array.isArray(value)) throw invalid(path, 'must be a list')
  const itemType = dbType.replace(/\[\]$/, '')
  const item = { type: typeOfColumn(itemType), dbType: itemType, labels }
  if (item.type === 'geometry' || item.type === 'array')
    throw invalid(path, `is of type ${dbType}, which cannot be written here`)
  const texts = value.map((one, index) =>
    one === null ? 'NULL' : quotedItem(textOf(item, one, `${path}/${index}`, false)),
  )
  return `{${texts.join(',')}}`
}

const quotedItem = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`

function binaryText(value: unknown, path: string): string {
  const isBase64 = typeof value === 'string' && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value)
  if (!isBase64) throw invalid(path, 'must be bytes in Base64')
  return `\\x${Buffer.from(value, 'base64').toString('hex')}`
}
