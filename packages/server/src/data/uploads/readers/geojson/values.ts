import type { NotedColumn } from '../../../../query/formats/table-note.ts'
import {
  type RowWriter,
  writeBoolean,
  writeFloat8,
  writeInt4,
  writeInt8,
  writeJson,
  writeNull,
  writePart,
  writeText,
  writeValue,
} from '../engine/copy-binary.ts'
import { plainDecimal, writeNumeric } from '../engine/numeric-binary.ts'
import { kind, kindsOfInteger, kindsOfJsonString } from '../engine/type-inference.ts'
import type { FieldType } from '../reader.ts'
import { numberIn, type TextCursor, textIn, token } from './cursor.ts'
import { tokenBits as bits, type FeatureBuffer, tokenMask as mask } from './feature.ts'

// As constants of this module: V8 does not fold imported ones.
const [tokenBits, tokenMask] = [bits, mask]
const { escaped, exponent, float, integer, nested, null: missing, text, true: yes } = token

/** The kinds of a value of the feature: mostly seen when it was read. */
export function kindsOfValue(cursor: TextCursor, feature: FeatureBuffer, place: number, seen: number): number {
  const value = feature.tokens[place] as number
  return value > 0 && value <= tokenMask ? lookAtValue(cursor, feature, place, seen) : value >> tokenBits
}

function lookAtValue({ bytes }: TextCursor, feature: FeatureBuffer, place: number, seen: number): number {
  const valueToken = feature.tokens[place] as number
  const start = feature.starts[place] as number
  const end = feature.ends[place] as number
  switch (valueToken) {
    case integer:
      return end - start < 10 ? kind.int4 : kindsOfInteger(bytes.toString('latin1', start, end))
    case float:
      return end - start < 300 ? kind.float : kindsOfFloat(bytes, start, end)
    case exponent:
      return kindsOfFloat(bytes, start, end)
    case text:
    case escaped:
      return seen & kind.text ? kind.text : kindsOfJsonString(textIn(bytes, start, end, valueToken))
    case nested:
      return kind.json
    default:
      return kind.boolean
  }
}

function kindsOfFloat(bytes: Buffer, start: number, end: number): number {
  return Number.isFinite(numberIn(bytes, start, end)) ? kind.float : kind.text
}

/** Writes a value of the feature as a field of this type. */
export function writeToken(
  rows: RowWriter,
  cursor: TextCursor,
  feature: FeatureBuffer,
  place: number,
  type: FieldType,
): void {
  const { bytes } = cursor
  const valueToken = (feature.tokens[place] as number) & tokenMask
  const start = feature.starts[place] as number
  const end = feature.ends[place] as number
  if (valueToken === missing) writeNull(rows)
  else if (type === 'text') writeWords(rows, cursor, start, end, valueToken)
  else if (type === 'integer') writeInt4(rows, numberAt(feature, bytes, place))
  else if (type === 'number') writeFloat8(rows, numberAt(feature, bytes, place))
  else if (type === 'boolean') writeBoolean(rows, valueToken === yes)
  else if (type === 'date') writeDate(rows, feature, place, bytes)
  else if (type === 'bigint') writeBigint(rows, bytes, start, end, valueToken)
  else if (type === 'numeric') writeNumeric(rows, plainDecimal(valueText(bytes, start, end, valueToken)))
  else if (type === 'json') writeJson(rows, bytes.toString('utf8', start, end))
  else writeValue(rows, type, textIn(bytes, start, end, valueToken))
}

const isString = (valueToken: number): boolean => valueToken === text || valueToken === escaped

/** What a string says, or the characters of another value. */
const valueText = (bytes: Buffer, start: number, end: number, valueToken: number): string =>
  isString(valueToken) ? textIn(bytes, start, end, valueToken) : bytes.toString('utf8', start, end)

/** The value of a column whose type a note says: JSON as it is written, other strings without their quotes; null for nothing. */
export function notedText(
  { bytes }: TextCursor,
  feature: FeatureBuffer,
  place: number,
  { type }: NotedColumn,
): string | null {
  const valueToken = (feature.tokens[place] as number) & tokenMask
  const [start, end] = [feature.starts[place] as number, feature.ends[place] as number]
  if (valueToken === missing) return null
  return type === 'json' ? bytes.toString('utf8', start, end) : valueText(bytes, start, end, valueToken)
}

function numberAt(feature: FeatureBuffer, bytes: Buffer, place: number): number {
  const value = feature.numbers[place] as number
  return Number.isNaN(value) ? numberIn(bytes, feature.starts[place] as number, feature.ends[place] as number) : value
}

/** A date with escapes was not seen to be one. */
function writeDate(rows: RowWriter, feature: FeatureBuffer, place: number, bytes: Buffer): void {
  const days = feature.numbers[place] as number
  const valueToken = (feature.tokens[place] as number) & tokenMask
  if (!Number.isNaN(days)) writeInt4(rows, days)
  else
    writeValue(rows, 'date', textIn(bytes, feature.starts[place] as number, feature.ends[place] as number, valueToken))
}

function writeBigint(rows: RowWriter, bytes: Buffer, start: number, end: number, valueToken: number): void {
  if (isString(valueToken)) {
    writeInt8(rows, BigInt(textIn(bytes, start, end, valueToken)))
    return
  }
  const value = end - start < 16 ? numberIn(bytes, start, end) : BigInt(bytes.toString('latin1', start, end))
  writeInt8(rows, value)
}

/** Text without escapes is copied as it lies there, numbers among text too. */
function writeWords(rows: RowWriter, cursor: TextCursor, start: number, end: number, valueToken: number): void {
  if (valueToken === escaped) {
    writeText(rows, textIn(cursor.bytes, start, end, valueToken))
    return
  }
  const quote = valueToken === text ? 1 : 0
  writePart(rows, cursor, start + quote, end - quote)
}
