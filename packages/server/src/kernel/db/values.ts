import pg from 'pg'
import { compileSql, type Sql, type SqlValue } from './sql.ts'

/** A value as both drivers send and receive it: PostgreSQL's own text form. */
export type ResultCell = string | null

/** `modifier` is what the type is limited to, such as the reference system of a geometry; -1 when it is not. */
export type ResultColumn = { readonly name: string; readonly type: number; readonly modifier: number }

type Decode = (text: string) => unknown

/** The wire counts parameters in 16 bits; one more would be read as garbage, not as an error. */
const maxParameters = 65_535

/** The statement as the wire wants it; what would corrupt the wire is refused here. */
export function encodeStatement(statement: Sql): { text: string; values: ResultCell[] } {
  const { text, values } = compileSql(statement)
  if (text.includes('\0')) throw refuse('A statement must not hold a NUL character', '42601')
  if (values.length > maxParameters) throw refuse(`A statement takes at most ${maxParameters} values`, '54023')
  return { text: text.toWellFormed(), values: values.map(encodeValue) }
}

/** What a server says of an error, besides its message. */
export const faultFields = [
  'severity',
  'code',
  'detail',
  'hint',
  'position',
  'where',
  'schema',
  'table',
  'column',
  'dataType',
  'constraint',
  'routine',
] as const

export type DatabaseFault = { message: string } & { [field in (typeof faultFields)[number]]?: string | undefined }

/** The class that pg throws, so that callers need not know which database they talk to. */
export function databaseError({ message, ...fields }: DatabaseFault): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError(message, message.length, 'error'), fields)
}

const refuse = (message: string, code: string): pg.DatabaseError => databaseError({ message, code, severity: 'ERROR' })

function encodeValue(value: SqlValue): ResultCell {
  if (value === null) return null
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value)
  if (value instanceof Date) return encodeDate(value)
  if (value instanceof Uint8Array) return `\\x${bufferOver(value).toString('hex')}`
  if (isArray(value)) return encodeArray(value)
  return String(value)
}

const isArray = (value: SqlValue): value is readonly SqlValue[] => Array.isArray(value)

const bufferOver = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** ISO 8601, but with PostgreSQL's spelling of the years that ISO writes with a sign. */
function encodeDate(date: Date): string {
  const year = date.getUTCFullYear()
  const rest = date.toISOString().slice(-20)
  if (year > 0) return `${String(year).padStart(4, '0')}${rest}`
  return `${String(1 - year).padStart(4, '0')}${rest} BC`
}

function encodeArray(items: readonly SqlValue[]): string {
  const parts = items.map((item) => {
    if (item === null) return 'NULL'
    if (isArray(item)) return encodeArray(item)
    return `"${(encodeValue(item) ?? '').replace(/["\\]/g, '\\$&')}"`
  })
  return `{${parts.join(',')}}`
}

/** Makes objects of the rows of one result. */
export function rowReader<R extends Record<string, unknown>>(
  columns: readonly ResultColumn[],
): (cells: readonly ResultCell[]) => R {
  const names = columns.map((column) => column.name)
  const decoders = columns.map((column) => decoderByType.get(column.type) ?? asText)
  const decode = (cell: ResultCell | undefined, index: number): unknown =>
    cell === null || cell === undefined ? null : (decoders[index] ?? asText)(cell)
  // A column may be called __proto__; assigning to it would change the prototype of the row.
  if (names.includes('__proto__')) {
    return (cells) => Object.fromEntries(names.map((name, index) => [name, decode(cells[index], index)])) as R
  }
  return (cells) => {
    const row: Record<string, unknown> = {}
    for (let index = 0; index < names.length; index++) row[names[index] ?? ''] = decode(cells[index], index)
    return row as R
  }
}

const asText: Decode = (text) => text

const decodeBytes: Decode = (text) => Buffer.from(text.slice(2), 'hex')

function decodeInt8(text: string): number | string {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : text
}

const timestamp =
  /^(\d{4,})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,3})\d*)?(?:([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?)?( BC)?$/

/** A timestamp without a zone is taken as UTC; microseconds are cut off; what no Date can hold stays text. */
function decodeTimestamp(text: string): Date | string {
  const match = timestamp.exec(text)
  if (!match) return text
  const part = (index: number): number => Number(match[index] ?? 0)
  const year = match[12] ? 1 - part(1) : part(1)
  const offset = (part(9) * 3600 + part(10) * 60 + part(11)) * (match[8] === '-' ? -1000 : 1000)
  const milliseconds = Number((match[7] ?? '0').padEnd(3, '0'))
  const date = new Date(0)
  date.setUTCFullYear(year, part(2) - 1, part(3))
  date.setUTCHours(part(4), part(5), part(6), milliseconds)
  date.setTime(date.getTime() - offset)
  return Number.isNaN(date.getTime()) ? text : date
}

const arrayToken = /([{},])|"([^"\\]*(?:\\.[^"\\]*)*)"|([^{},"]+)/gs

/** {a,"b c",NULL,{nested}}, perhaps after bounds such as [0:1]=. */
function decodeArray(text: string, decode: Decode): unknown[] {
  const result: unknown[] = []
  const stack = [result]
  for (const [, mark, quoted, plain] of text.slice(text.indexOf('{')).matchAll(arrayToken)) {
    const list = stack.at(-1) ?? result
    if (mark === '{') {
      const inner: unknown[] = []
      list.push(inner)
      stack.push(inner)
    } else if (mark === '}') stack.pop()
    else if (quoted !== undefined) list.push(decode(quoted.replace(/\\(.)/gs, '$1')))
    else if (plain !== undefined) list.push(plain === 'NULL' ? null : decode(plain))
  }
  return result[0] as unknown[]
}

/** [the decoder, the OIDs of its types, the OIDs of their arrays]; any other type is text. */
const table: readonly [Decode, readonly number[], readonly number[]][] = [
  [(text) => text === 't', [16], [1000]],
  [decodeBytes, [17], [1001]],
  [decodeInt8, [20], [1016]],
  [Number, [21, 23, 26, 700, 701], [1005, 1007, 1028, 1021, 1022]],
  [(text) => JSON.parse(text), [114, 3802], [199, 3807]],
  [decodeTimestamp, [1114, 1184], [1115, 1185]],
  // name, text, bpchar, varchar, date, time, timetz, interval, numeric, uuid, inet, cidr
  [asText, [], [1003, 1009, 1014, 1015, 1182, 1183, 1270, 1187, 1231, 2951, 1041, 651]],
]

const decoderByType = new Map<number, Decode>(
  table.flatMap(([decode, types, arrays]) => [
    ...types.map((type): [number, Decode] => [type, decode]),
    ...arrays.map((type): [number, Decode] => [type, (text) => decodeArray(text, decode)]),
  ]),
)
