import * as codes from '../../../../query/geometry/encoding/character-codes.ts'
import {
  beginGeometry,
  type GeometryWriter,
  writeHeader,
  writePosition,
} from '../../../../query/geometry/encoding/ewkb-writer.ts'
import { readPlainNumber } from '../../../../query/geometry/encoding/plain-number.ts'
import { readPlainWkt } from '../../../../query/geometry/encoding/wkt-plain.ts'
import { type RowWriter, writeFloat8, writeInt4, writeNull, writePart, writeValue } from '../engine/copy-binary.ts'
import type { LocalFormat } from '../engine/local-columns.ts'
import { isNull } from '../engine/null-words.ts'
import type { RecordShape } from '../engine/reading.ts'
import { daysIn } from '../engine/temporal.ts'
import { kind, mayBeThousands } from '../engine/type-inference.ts'
import type { FieldType } from '../reader.ts'
import type { GeometryColumns } from '../table/geometry-cell.ts'
import type { TabularLayer } from '../table/table.ts'
import { isDateHeading } from '../table/table-faults.ts'
import type { RowWindow } from './rows.ts'

/** What a cell holds. */
const cellIs = { nothing: 0, text: 1, integer: 2, float: 3, date: 4 } as const

/** A row read from its bytes: where its cells are, and the numbers among them. */
export type FastRow = {
  /** Reads the row at the window's place; false where it is not plain, and nothing done. */
  read(writer: GeometryWriter): boolean
  shape(): RecordShape
  kindsOf(place: number, known: number): number
  write(rows: RowWriter, place: number, type: FieldType, local?: LocalFormat): void
  place(): { line: number; written?: string }
}

type Row = {
  readonly window: RowWindow
  readonly geometry: GeometryColumns
  readonly delimiter: number
  /** The bytes that end a cell without quotes, those that should not be in one among them. */
  readonly stops: Uint8Array
  /** Of each cell. */
  readonly kinds: Uint8Array
  readonly starts: Int32Array
  readonly ends: Int32Array
  readonly numbers: Float64Array
  /** Columns in which text was seen: numbers are not looked for. */
  readonly isText: Uint8Array
  /** Reads rows with a geometry in text only. */
  readonly textColumn: number
  line: number
  shape: RecordShape
  readonly noteNull: (count: number) => void
  /** Cells of the row that hold NULL. */
  nulls: number
}

// As constants of this module: V8 does not fold imported ones.
const { carriageReturn, comma, lineFeed, minus, nine, period, quote } = codes

type CellReaders = {
  kindsOf(cell: string, place: number): number
  /** Looks at texts that begin as a guarded formula may. */
  noteText(place: number, cell: string): void
}

/** Reads plain rows straight from the bytes of the file: without text, about four times as fast. */
export function createFastRow(
  window: RowWindow,
  table: TabularLayer,
  delimiter: string,
  { kindsOf, noteText }: CellReaders,
): FastRow | undefined {
  const { layout, columns, fields } = table
  const { geometry, names } = layout
  const noteNull = table.noteNull
  // Other delimiters may be part of a number.
  if (!/^[,;\t|]$/.test(delimiter) || geometry.kind === 'pair' || geometry.kind === 'box') return undefined
  const row = createRow(window, geometry, delimiter, names.length, noteNull)
  // Eight digits may be a date there.
  for (const [place, name] of fields.names.entries()) if (isDateHeading(name)) row.isText[columns[place] as number] = 1
  const textOf = (column: number): string =>
    window.bytes.toString('utf8', row.starts[column] as number, row.ends[column] as number)
  return {
    read(writer) {
      const { at, line } = window
      row.line = line
      row.nulls = 0
      if (at < window.end && readRow(row, writer) && readPoint(row, writer)) {
        window.line++
        if (row.nulls > 0) noteNull(row.nulls)
        return true
      }
      window.at = at
      window.line = line
      return false
    },
    shape: () => row.shape,
    kindsOf(place, known) {
      const column = columns[place] as number
      const cell = row.kinds[column]
      if (cell === cellIs.integer) return kind.int4
      if (cell === cellIs.float) return kindsOfFloat(row, column)
      if (cell === cellIs.text && mayBeGuarded(window.bytes[row.starts[column] as number] as number))
        noteText(place, textOf(column))
      if (cell === cellIs.nothing || known & kind.text) return kind.none
      return noteDate(row, column) ? kind.date : kindsOf(textOf(column), place)
    },
    write(rows, place, type, local) {
      const column = columns[place] as number
      const cell = row.kinds[column]
      if (cell === cellIs.nothing) writeNull(rows)
      else if (local) writeValue(rows, type, textOf(column), local)
      else if (type === 'text') writePart(rows, window, row.starts[column] as number, row.ends[column] as number)
      else if (type === 'number' && cell !== cellIs.text) writeFloat8(rows, row.numbers[column] as number)
      else if ((type === 'integer' && cell === cellIs.integer) || (type === 'date' && cell === cellIs.date))
        writeInt4(rows, row.numbers[column] as number)
      else writeValue(rows, type, textOf(column))
    },
    place: () => ({ line: row.line, ...(row.textColumn >= 0 && { written: textOf(row.textColumn) }) }),
  }
}

function createRow(
  window: RowWindow,
  geometry: GeometryColumns,
  delimiter: string,
  width: number,
  noteNull: Row['noteNull'],
): Row {
  const code = delimiter.charCodeAt(0)
  const stops = [code, quote, lineFeed, carriageReturn, 0]
  return {
    window,
    geometry,
    delimiter: code,
    stops: Uint8Array.from({ length: 256 }, (_, byte) => (stops.includes(byte) ? 1 : 0)),
    kinds: new Uint8Array(width),
    starts: new Int32Array(width),
    ends: new Int32Array(width),
    numbers: new Float64Array(width),
    isText: new Uint8Array(width),
    textColumn: geometry.kind === 'text' ? geometry.column : -1,
    line: 0,
    shape: 'missing',
    noteNull,
    nulls: 0,
  }
}

/** Reads a whole row of as many cells as there are names. */
function readRow(row: Row, writer: GeometryWriter): boolean {
  const { window } = row
  const { bytes } = window
  const last = row.kinds.length - 1
  for (let column = 0; column <= last; column++) {
    const isQuoted = bytes[window.at] === quote
    if (isQuoted) window.at++
    row.starts[column] = window.at
    if (column === row.textColumn) {
      if (!readWkt(row, writer, isQuoted)) return false
    } else readCell(row, column, isQuoted)
    row.ends[column] = window.at
    if (isQuoted && bytes[window.at++] !== quote) return false
    if (column < last && bytes[window.at++] !== row.delimiter) return false
  }
  // A row of nothing is none.
  return !(last === 0 && row.kinds[0] === cellIs.nothing) && endLine(window)
}

function endLine(window: RowWindow): boolean {
  const { bytes, at, end } = window
  const byte = bytes[at]
  if (at >= end) return window.isLast
  if (byte === lineFeed) window.at++
  else if (byte !== carriageReturn || (at + 1 >= end && !window.isLast)) return false
  else window.at += bytes[at + 1] === lineFeed ? 2 : 1
  return true
}

function readWkt(row: Row, writer: GeometryWriter, isQuoted: boolean): boolean {
  const type = readPlainWkt(row.window.bytes, row.window, writer)
  row.shape = type ?? 'missing'
  // Without quotes, the commas between positions are not part of the cell.
  return type !== undefined && (isQuoted || row.delimiter !== comma || type === 'Point')
}

/** Reads up to the byte behind the cell, or its closing quote. */
function readCell(row: Row, column: number, isQuoted: boolean): void {
  const { window, isText } = row
  const start = window.at
  if (isText[column] === 0 && readNumber(row, column)) return
  window.at = start
  if (isQuoted) skipQuoted(window)
  else skipPlain(row)
  row.kinds[column] = window.at === start && !isQuoted ? cellIs.nothing : cellIs.text
  if (
    mayBeNull(window.bytes[start] as number) &&
    isNull(window.bytes.toString('latin1', start, Math.min(window.at, start + 8)))
  ) {
    row.kinds[column] = cellIs.nothing
    row.nulls++
    return
  }
  if (window.at > start && (window.bytes[start] as number) > nine) isText[column] = 1
}

/** The first letters of words for null: few cells begin with one. */
const nullStarts = Uint8Array.from({ length: 256 }, (_, byte) => ('Nn\\#<'.includes(String.fromCharCode(byte)) ? 1 : 0))

const mayBeNull = (byte: number): boolean => nullStarts[byte] === 1

/** The first bytes of what looks like a formula, or like one that is guarded. */
const formulaStarts = Uint8Array.from({ length: 256 }, (_, byte) =>
  "'=+@ \t".includes(String.fromCharCode(byte)) ? 1 : 0,
)

const mayBeGuarded = (byte: number): boolean => formulaStarts[byte] === 1

function readNumber({ window, stops, numbers, kinds }: Row, column: number): boolean {
  const value = readPlainNumber(window.bytes, window)
  if (Number.isNaN(value) || stops[window.bytes[window.at] as number] === 0) return false
  numbers[column] = value
  kinds[column] = window.hasPoint ? cellIs.float : cellIs.integer
  return true
}

/** 46.951 has three decimals, or is 46 951: the others of its column tell. */
function kindsOfFloat({ window, starts, ends }: Row, column: number): number {
  const { bytes } = window
  const end = ends[column] as number
  if (bytes[end - 4] !== period) return kind.float
  const start = (starts[column] as number) + (bytes[starts[column] as number] === minus ? 1 : 0)
  return mayBeThousands(end - 4 - start, 3, bytes[start] as number) ? kind.pointThree : kind.float
}

function skipQuoted(window: RowWindow): void {
  const { bytes } = window
  let at = window.at
  for (; bytes[at] !== quote && bytes[at] !== 0; at++) if (bytes[at] === lineFeed) window.line++
  window.at = at
}

function skipPlain({ window, stops }: Row): void {
  const { bytes } = window
  let at = window.at
  while (stops[bytes[at] as number] === 0) at++
  window.at = at
}

/** The point of a row whose coordinates are plain numbers; false where they are not. */
function readPoint(row: Row, writer: GeometryWriter): boolean {
  const { geometry, kinds, numbers } = row
  if (geometry.kind !== 'xy') return true
  const { x, y, z } = geometry
  if (!isNumber(kinds[x]) || !isNumber(kinds[y]) || (z >= 0 && !isNumber(kinds[z]))) return false
  beginGeometry(writer)
  writeHeader(writer, 'Point')
  writePosition(writer, numbers[x] as number, numbers[y] as number, z >= 0 ? (numbers[z] as number) : 0)
  writer.sawZ = z >= 0
  row.shape = 'Point'
  return true
}

const isNumber = (cell: number | undefined): boolean => cell === cellIs.integer || cell === cellIs.float

function noteDate({ window, kinds, numbers, starts, ends }: Row, column: number): boolean {
  const days = daysIn(window.bytes, starts[column] as number, ends[column] as number)
  if (days === undefined) return false
  kinds[column] = cellIs.date
  numbers[column] = days
  return true
}
