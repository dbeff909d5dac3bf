import { isUtf8 } from 'node:buffer'
import {
  allocate,
  type ByteWriter,
  createByteWriter,
  reserve,
} from '../../../../query/geometry/encoding/byte-writer.ts'
import type { FieldType } from '../reader.ts'
import { type LocalFormat, plainValue } from './local-columns.ts'
import { isNullWord } from './null-words.ts'
import { plainDecimal, writeNumeric } from './numeric-binary.ts'
import { parseTemporal, type Temporal, temporalOfDate } from './temporal.ts'

const chunkBytes = 256 * 1024

/** Rows of COPY BINARY under construction. */
export type RowWriter = ByteWriter & { rowStart: number }

export function createRowWriter(): RowWriter {
  return { ...createByteWriter(chunkBytes + 16 * 1024), rowStart: 0 }
}

export function beginRow(writer: RowWriter, fieldCount: number): void {
  reserve(writer, 2)
  writer.rowStart = writer.length
  writer.view.setInt16(writer.length, fieldCount)
  writer.length += 2
}

/** The chunk, once it is large enough (or `isLast` and not empty). Its memory is written again when the next row is. */
export function takeChunk(writer: RowWriter, isLast = false): Buffer | undefined {
  if (writer.length === 0 || (writer.length < chunkBytes && !isLast)) return undefined
  const chunk = writer.bytes.subarray(0, writer.length)
  // A large row is no reason to keep so much memory.
  if (writer.bytes.length > 4 * chunkBytes) Object.assign(writer, allocate(chunkBytes + 16 * 1024))
  writer.length = 0
  writer.rowStart = 0
  return chunk
}

export function writeNull(writer: RowWriter): void {
  reserve(writer, 4)
  writer.view.setInt32(writer.length, -1)
  writer.length += 4
}

export function writeBoolean(writer: RowWriter, value: boolean): void {
  reserve(writer, 5)
  writer.view.setInt32(writer.length, 1)
  writer.view.setUint8(writer.length + 4, value ? 1 : 0)
  writer.length += 5
}

export function writeInt4(writer: RowWriter, value: number): void {
  reserve(writer, 8)
  writer.view.setInt32(writer.length, 4)
  writer.view.setInt32(writer.length + 4, value)
  writer.length += 8
}

/** A bigint, or a number that is a safe integer. */
export function writeInt8(writer: RowWriter, value: number | bigint): void {
  reserve(writer, 12)
  const { view, length } = writer
  view.setInt32(length, 8)
  if (typeof value === 'bigint') view.setBigInt64(length + 4, value)
  else {
    const high = Math.floor(value / 4294967296)
    view.setInt32(length + 4, high)
    view.setUint32(length + 8, value - high * 4294967296)
  }
  writer.length += 12
}

export function writeFloat8(writer: RowWriter, value: number): void {
  reserve(writer, 12)
  writer.view.setInt32(writer.length, 8)
  writer.view.setFloat64(writer.length + 4, value)
  writer.length += 12
}

/** Text, bytea or EWKB as they are. */
export function writeBytes(writer: RowWriter, value: Uint8Array): void {
  reserve(writer, 4 + value.length)
  writer.view.setInt32(writer.length, value.length)
  writer.bytes.set(value, writer.length + 4)
  writer.length += 4 + value.length
}

/** Up to so many bytes a loop is quicker than a call. */
const shortBytes = 80

/** A part of these bytes as it is; three more behind it can be read. */
export function writePart(
  writer: RowWriter,
  from: { bytes: Uint8Array; view: DataView },
  start: number,
  end: number,
): void {
  const size = end - start
  reserve(writer, 4 + size + 3)
  const { view, length } = writer
  view.setInt32(length, size)
  if (size > shortBytes) writer.bytes.set(from.bytes.subarray(start, end), length + 4)
  // Four at once: what is too much is written over.
  else for (let at = 0; at < size; at += 4) view.setInt32(length + 4 + at, from.view.getInt32(start + at))
  writer.length = length + 4 + size
}

/** PostgreSQL knows no U+0000: it becomes U+FFFD. */
export function writeText(writer: RowWriter, text: string): void {
  const clean = text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
  reserve(writer, 4 + clean.length * 3)
  const size = writer.bytes.write(clean, writer.length + 4, 'utf8')
  writer.view.setInt32(writer.length, size)
  writer.length += 4 + size
}

/** Text in UTF-8, copied as it is where PostgreSQL takes it. */
export function writeUtf8(writer: RowWriter, bytes: Buffer): void {
  if (isUtf8(bytes) && !bytes.includes(0)) writeBytes(writer, bytes)
  else writeText(writer, bytes.toString('utf8'))
}

/** jsonb of a JSON text that is known to be valid. */
export function writeJson(writer: RowWriter, json: string): void {
  const clean = json.includes('\\u') ? withoutBadEscapes(json) : json
  reserve(writer, 5 + clean.length * 3)
  writer.bytes[writer.length + 4] = 1
  const size = writer.bytes.write(clean, writer.length + 5, 'utf8') + 1
  writer.view.setInt32(writer.length, size)
  writer.length += 4 + size
}

const escapes = /\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\u([0-9a-f]{4})|\\[^u]/gi

/** jsonb takes neither \u0000 nor half a surrogate pair. */
function withoutBadEscapes(json: string): string {
  return json.replace(escapes, (sequence, _high, _low, single: string | undefined) =>
    single !== undefined && /^(0000|d[89a-f]..)$/i.test(single) ? '\\ufffd' : sequence,
  )
}

function writeTemporal(writer: RowWriter, type: FieldType, value: Temporal | { days: number; micros: number }): void {
  const days = 'days' in value ? value.days : 0
  const micros = 'micros' in value ? value.micros : 0
  if (type === 'date') writeInt4(writer, days)
  else writeInt8(writer, BigInt(days) * 86_400_000_000n + BigInt(micros))
}

type Write = (writer: RowWriter, value: unknown) => void

const writeMoment =
  (type: FieldType): Write =>
  (writer, value) => {
    const temporal = value instanceof Date ? temporalOfDate(value) : parseTemporal(String(value))
    if (temporal === undefined) writeNull(writer)
    else writeTemporal(writer, type, temporal)
  }

const writers: Record<FieldType, Write> = {
  text: (writer, value) => writeText(writer, textOf(value)),
  json: (writer, value) => writeJson(writer, jsonOf(value)),
  boolean: (writer, value) => writeBoolean(writer, value === true || /^(true|t|1)$/i.test(String(value))),
  integer: (writer, value) => writeInt4(writer, Number(value)),
  bigint: (writer, value) => writeInt8(writer, BigInt(value as number | bigint | string)),
  number: (writer, value) => writeFloat8(writer, numberOf(value)),
  numeric: (writer, value) => writeNumeric(writer, plainDecimal(String(value))),
  date: writeMoment('date'),
  time: writeMoment('time'),
  timestamp: writeMoment('timestamp'),
  timestamptz: writeMoment('timestamptz'),
  binary: (writer, value) => (value instanceof Uint8Array ? writeBytes(writer, value) : writeNull(writer)),
  uuid: writeUuid,
}

/** A value of JavaScript, or its text, as a field of this type. Nothing at all in a column of numbers or dates is null. */
export function writeValue(writer: RowWriter, type: FieldType, given: unknown, local?: LocalFormat): void {
  const isWritten = typeof given === 'string' || (typeof given === 'number' && local?.of === 'date')
  const value = local && isWritten ? plainValue(String(given), local) : given
  const isWord = typeof given === 'string' && type !== 'text' && type !== 'json' && isNullWord(given)
  const isMissing =
    isWord || value === null || value === undefined || (value === '' && type !== 'text' && type !== 'json')
  if (isMissing) writeNull(writer)
  else writers[type](writer, value)
}

/** Decimals may have a comma. */
function numberOf(value: unknown): number {
  const number = Number(value)
  return Number.isNaN(number) && typeof value === 'string' ? Number(value.replace(',', '.')) : number
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  return typeof value === 'object' ? jsonOf(value) : String(value)
}

// Not yet in the types of TypeScript.
const { rawJSON: rawJson } = JSON as unknown as { rawJSON: (text: string) => unknown }

/** Integers beyond 2^53 keep their digits. Bytes in nested values are most often text. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_key, inner) => {
    if (typeof inner === 'bigint') return rawJson(String(inner))
    return inner instanceof Uint8Array ? Buffer.from(inner).toString('utf8') : inner
  })
}

function writeUuid(writer: RowWriter, value: unknown): void {
  const bytes = value instanceof Uint8Array ? value : Buffer.from(String(value).replaceAll('-', ''), 'hex')
  if (bytes.length === 16) writeBytes(writer, bytes)
  else writeNull(writer)
}
