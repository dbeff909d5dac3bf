import {
  beginRow,
  ensure,
  type RowWriter,
  writeBoolean,
  writeBytes,
  writeFloat8,
  writeInt4,
  writeInt8,
  writeJson,
  writeNull,
  writeText,
  writeValue,
} from './copy-binary.ts'
import { numberIn, textIn, token } from './geojson-cursor.ts'
import type { Feature } from './geojson-feature.ts'
import type { EncodedColumn, FieldType } from './reader.ts'
import { daysIn } from './temporal.ts'
import { writtenGeometry } from './wkb.ts'

/** Writes the feature in the window as a row; `places` says where the value of each field lies. */
export function encodeFeature(
  writer: RowWriter,
  columns: readonly EncodedColumn[],
  feature: Feature,
  bytes: Buffer,
  row: { fid: number; places: readonly number[] },
): void {
  beginRow(writer, columns.length)
  for (const column of columns) {
    if (column.kind === 'field') encodeField(writer, column.type, feature, bytes, row.places[column.field] ?? -1)
    else if (column.kind === 'fid') writeInt8(writer, row.fid)
    else if (feature.geometryType === undefined) writeNull(writer)
    else writeBytes(writer, writtenGeometry(feature.geometry))
  }
}

function encodeField(writer: RowWriter, type: FieldType, feature: Feature, bytes: Buffer, place: number): void {
  const found = feature.kinds[place] ?? token.null
  const start = feature.starts[place] as number
  const end = feature.ends[place] as number
  if (found === token.null) writeNull(writer)
  else if (type === 'text') encodeText(writer, bytes, start, end, found)
  else if (type === 'integer') writeInt4(writer, numberIn(bytes, start, end))
  else if (type === 'number') writeFloat8(writer, numberIn(bytes, start, end))
  else if (type === 'boolean') writeBoolean(writer, found === token.true)
  else if (type === 'bigint') writeBigint(writer, bytes, start, end)
  else if (type === 'json') writeJson(writer, bytes.toString('utf8', start, end))
  else if (type === 'date') writeDate(writer, bytes, start, end, found)
  else writeValue(writer, type, textIn(bytes, start, end, found))
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
function encodeText(writer: RowWriter, bytes: Buffer, start: number, end: number, found: number): void {
  if (found === token.escaped) {
    writeText(writer, textIn(bytes, start, end, found))
    return
  }
  const quote = found === token.text ? 1 : 0
  const size = end - start - 2 * quote
  ensure(writer, size + 4)
  writer.view.setInt32(writer.length, size)
  bytes.copy(writer.bytes, writer.length + 4, start + quote, end - quote)
  writer.length += size + 4
}
