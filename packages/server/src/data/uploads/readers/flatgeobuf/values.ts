import {
  type RowWriter,
  writeBoolean,
  writeBytes,
  writeFloat8,
  writeInt4,
  writeInt8,
  writeNull,
  writeText,
  writeUtf8,
  writeValue,
} from '../engine/copy-binary.ts'
import { kindsOfNoted, writeNoted } from '../engine/noted-values.ts'
import { fieldTypeOf, isJson, kind, kindsOfString } from '../engine/type-inference.ts'
import type { FieldType } from '../reader.ts'
import { damagedBuffer, type FlatbufferTable, type FlatbufferVector } from './flatbuffer.ts'
import type { FlatColumn } from './header.ts'

/** By the number that FlatGeobuf gives a type: its size, where it has one, and what it becomes. */
const columnTypes: readonly { readonly size: number; readonly type: FieldType }[] = [
  { size: 1, type: 'integer' },
  { size: 1, type: 'integer' },
  { size: 1, type: 'boolean' },
  { size: 2, type: 'integer' },
  { size: 2, type: 'integer' },
  { size: 4, type: 'integer' },
  { size: 4, type: 'bigint' },
  { size: 8, type: 'bigint' },
  { size: 8, type: 'bigint' },
  { size: 4, type: 'number' },
  { size: 8, type: 'number' },
  { size: 0, type: 'text' },
  { size: 0, type: 'json' },
  { size: 0, type: 'timestamptz' },
  { size: 0, type: 'binary' },
]

const [uInt, uLong, float, json, dateTime, binary] = [6, 8, 9, 12, 13, 14]

/** Finds where the value of every column is; -1 where there is none. */
export function locateValues(
  { view }: FlatbufferTable,
  { at, length }: FlatbufferVector,
  columns: readonly FlatColumn[],
  places: Int32Array,
): void {
  places.fill(-1)
  const end = at + length
  for (let next = at; next < end; ) {
    if (next + 2 > end) throw damagedBuffer()
    const index = view.getUint16(next, true)
    const column = columns[index]
    const type = column && columnTypes[column.type]
    if (!type) throw damagedBuffer()
    places[index] = next + 2
    next += 2 + (type.size || sizeOfText(view, next + 2, end))
    if (next > end) throw damagedBuffer()
  }
}

function sizeOfText(view: DataView, at: number, end: number): number {
  if (at + 4 > end) throw damagedBuffer()
  return 4 + view.getUint32(at, true)
}

/** The kinds of a value; only those decide that do not fit the type of their column, and dates. */
export function kindsOfFlatValue(view: DataView, at: number, { type, noted }: FlatColumn): number {
  if (noted) return kindsOfNoted(flatValue(view, at, type), noted)
  if (type === uLong) return view.getUint8(at + 7) > 127 ? kind.text : kind.int8
  if (type === dateTime) return kindsOfString(textAt(view, at))
  return type === json && !isJson(textAt(view, at)) ? kind.text : kind.json
}

export function flatFieldType({ type }: FlatColumn, kinds: number): FieldType {
  if (type === dateTime && kinds !== kind.none) return fieldTypeOf(kinds)
  return kinds & kind.text ? 'text' : (columnTypes[type]?.type ?? 'text')
}

/** A number, truth or text, or bytes. */
function flatValue(view: DataView, at: number, type: number): unknown {
  if (type === binary) return bytesAt(view, at)
  const { type: read } = columnTypes[type] ?? {}
  if (read === 'integer') return integerAt(view, at, type)
  if (read === 'bigint') return bigintAt(view, at, type)
  if (read === 'number') return doubleAt(view, at, type)
  return read === 'boolean' ? view.getUint8(at) !== 0 : textAt(view, at)
}

function bigintAt(view: DataView, at: number, type: number): number | bigint {
  if (type === uLong) return view.getBigUint64(at, true)
  return type === uInt ? view.getUint32(at, true) : view.getBigInt64(at, true)
}

const doubleAt = (view: DataView, at: number, type: number): number =>
  type === float ? view.getFloat32(at, true) : view.getFloat64(at, true)

function bytesAt(view: DataView, at: number): Buffer {
  return Buffer.from(view.buffer, view.byteOffset + at + 4, view.getUint32(at, true))
}

function textAt(view: DataView, at: number): string {
  return bytesAt(view, at).toString('utf8')
}

/** Writes the value at this place as a field. */
export function writeFlatValue(
  writer: RowWriter,
  view: DataView,
  at: number,
  column: FlatColumn,
  type: FieldType,
): void {
  if (at < 0) writeNull(writer)
  else if (column.noted) writeNoted(writer, type, flatValue(view, at, column.type), column.noted)
  else if (type === 'integer') writeInt4(writer, integerAt(view, at, column.type))
  else if (type === 'bigint') writeInt8(writer, bigintAt(view, at, column.type))
  else if (type === 'number') writeFloat8(writer, doubleAt(view, at, column.type))
  else if (type === 'boolean') writeBoolean(writer, view.getUint8(at) !== 0)
  else if (column.type === uLong) writeText(writer, String(view.getBigUint64(at, true)))
  else if (column.type === binary) writeBytes(writer, bytesAt(view, at))
  else if (type === 'text') writeUtf8(writer, bytesAt(view, at))
  else writeValue(writer, type, column.type === json ? JSON.parse(textAt(view, at)) : textAt(view, at))
}

function integerAt(view: DataView, at: number, type: number): number {
  if (type === 0) return view.getInt8(at)
  if (type === 1) return view.getUint8(at)
  if (type === 3) return view.getInt16(at, true)
  if (type === 4) return view.getUint16(at, true)
  return view.getInt32(at, true)
}
