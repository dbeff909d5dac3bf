import {
  beginRow,
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
} from './copy-binary.ts'
import { type Cursor, numberIn, textIn, token } from './geojson-cursor.ts'
import type { Feature } from './geojson-feature.ts'
import type { EncodedColumn, FieldType } from './reader.ts'
import { daysIn } from './temporal.ts'

/** What a column is written as; `other` by its type. */
export const form = {
  fid: 0,
  geometry: 1,
  text: 2,
  integer: 3,
  number: 4,
  boolean: 5,
  date: 6,
  bigint: 7,
  other: 8,
} as const

/** Where the feature lies. */
type Window = Pick<Cursor, 'bytes' | 'view'>

/** The columns of a table, made ready for writing many rows. */
export type RowForm = { forms: Uint8Array; places: Int32Array; types: FieldType[] }

/** `places` says where in a feature the value of each field lies. */
export function rowForm(columns: readonly EncodedColumn[], places: readonly number[]): RowForm {
  return {
    forms: Uint8Array.from(columns, formOf),
    places: Int32Array.from(columns, (column) => (column.kind === 'field' ? (places[column.field] ?? -1) : -1)),
    types: columns.map((column) => (column.kind === 'field' ? column.type : 'binary')),
  }
}

function formOf(column: EncodedColumn): number {
  if (column.kind !== 'field') return form[column.kind]
  return column.type in form ? form[column.type as keyof typeof form] : form.other
}

/** Writes the feature in the window as a row. */
export function encodeFeature(writer: RowWriter, row: RowForm, feature: Feature, window: Window, fid: number): void {
  const { forms } = row
  beginRow(writer, forms.length)
  for (let index = 0; index < forms.length; index++) {
    const shape = forms[index] as number
    if (shape === form.fid) writeInt8(writer, fid)
    else if (shape !== form.geometry) encodeField(writer, row, index, feature, window)
    else if (feature.geometryType === undefined) writeNull(writer)
    else writePart(writer, feature.geometry, 0, feature.geometry.length)
  }
}

function encodeField(writer: RowWriter, row: RowForm, index: number, feature: Feature, window: Window): void {
  const { bytes } = window
  const place = row.places[index] as number
  const found = feature.kinds[place] ?? token.null
  if (found === token.null) {
    writeNull(writer)
    return
  }
  const start = feature.starts[place] as number
  const end = feature.ends[place] as number
  switch (row.forms[index]) {
    case form.text:
      encodeText(writer, window, start, end, found)
      break
    case form.integer:
      writeInt4(writer, numberAt(feature, bytes, place))
      break
    case form.number:
      writeFloat8(writer, numberAt(feature, bytes, place))
      break
    case form.boolean:
      writeBoolean(writer, found === token.true)
      break
    case form.date:
      writeDate(writer, bytes, start, end, found)
      break
    case form.bigint:
      writeBigint(writer, bytes, start, end)
      break
    default:
      encodeOther(writer, row.types[index] as FieldType, bytes, start, end, found)
  }
}

function encodeOther(w: RowWriter, type: FieldType, bytes: Buffer, start: number, end: number, found: number): void {
  if (type === 'json') writeJson(w, bytes.toString('utf8', start, end))
  else writeValue(w, type, textIn(bytes, start, end, found))
}

function numberAt(feature: Feature, bytes: Buffer, place: number): number {
  const value = feature.numbers[place] as number
  return Number.isNaN(value) ? numberIn(bytes, feature.starts[place] as number, feature.ends[place] as number) : value
}

function writeDate(writer: RowWriter, bytes: Buffer, start: number, end: number, found: number): void {
  const days = daysIn(bytes, start + 1, end - 1)
  if (days === undefined) writeValue(writer, 'date', textIn(bytes, start, end, found))
  else writeInt4(writer, days)
}

function writeBigint(writer: RowWriter, bytes: Buffer, start: number, end: number): void {
  const value = end - start < 16 ? numberIn(bytes, start, end) : BigInt(bytes.toString('latin1', start, end))
  writeInt8(writer, value)
}

/** Text without escapes is copied as it lies there, numbers among text too. */
function encodeText(writer: RowWriter, window: Window, start: number, end: number, found: number): void {
  if (found === token.escaped) {
    writeText(writer, textIn(window.bytes, start, end, found))
    return
  }
  const quote = found === token.text ? 1 : 0
  writePart(writer, window, start + quote, end - quote)
}
