import { beginRow, writeFloat8, writeInt4, writeInt8, writeNull, writePart, writeValue } from './copy-binary.ts'
import type { GeometryPlace } from './csv-geometry.ts'
import type { TableLayout } from './csv-layout.ts'
import type { RowWindow, TakeRows } from './csv-rows.ts'
import { isInDegrees } from './impossible-rows.ts'
import { readPlainNumber } from './plain-number.ts'
import type { FieldType, GeometryType } from './reader.ts'
import type { WritingPass } from './record-reader.ts'
import { daysIn } from './temporal.ts'
import { kind } from './type-inference.ts'
import { beginGeometry, widenExtent, writeHeader, writePosition } from './wkb.ts'
import { readPlainWkt } from './wkt-plain.ts'

/** How the cells of a column are read. */
const form = { text: 0, integer: 1, number: 2, date: 3, other: 4, geometry: 5 } as const

/** What was found in a cell. */
const state = { null: 0, span: 1, integer: 2, float: 3, text: 4 } as const

const special = { fid: -1, geometry: -2, none: -3 } as const

/** The columns of a file and the row read last, cell by cell. */
type Row = {
  layout: TableLayout
  pass: WritingPass
  kindsOf: (cell: unknown) => number
  delimiter: number
  /** The bytes that end a cell without quotes, those that should not be in one among them. */
  stops: Uint8Array
  forms: Uint8Array
  /** Of each column; -1 where it is none. */
  fields: Int32Array
  types: FieldType[]
  states: Uint8Array
  starts: Int32Array
  ends: Int32Array
  numbers: Float64Array
  texts: string[]
  geometryType: GeometryType | undefined
  /** The columns to write: those of the file, and what else is `special`. */
  written: Int32Array
}

type QuickOptions = { layout: TableLayout; fields: readonly number[]; delimiter: string; kindsOf: Row['kindsOf'] }

/**
 * Writes rows straight from the bytes of the file, as long as they are plain and tell nothing new of the table. It does what is
 * done with records, only without making them.
 */
export function quickRows(pass: WritingPass, options: QuickOptions): TakeRows | undefined {
  const row = createRow(pass, options)
  if (!row) return undefined
  return (window) => {
    while (!pass.isOver && window.at < window.end) {
      const { at, line } = window
      if (!readRow(window, row) || !readGeometry(row)) {
        window.at = at
        window.line = line
        return
      }
      window.line++
      count(row)
      write(row, window)
    }
  }
}

function createRow(pass: WritingPass, { layout, fields, delimiter, kindsOf }: QuickOptions): Row | undefined {
  const width = layout.names.length
  const types = layout.names.map((): FieldType => 'text')
  const places = new Int32Array(width).fill(-1)
  for (const [field, column] of fields.entries()) places[column] = field
  for (const column of pass.columns) if (column.kind === 'field') types[fields[column.field] ?? -1] = column.type
  const forms = Uint8Array.from({ length: width }, (_, column) => formOf(layout, types[column] as FieldType, column))
  // Others may be part of a number.
  if (!/^[,;\t|]$/.test(delimiter) || !hasNumbers(layout.geometry, forms)) return undefined
  const code = delimiter.charCodeAt(0)
  return {
    layout,
    pass,
    kindsOf,
    delimiter: code,
    stops: Uint8Array.from({ length: 256 }, (_, byte) => ([code, 34, 10, 13, 0].includes(byte) ? 1 : 0)),
    forms,
    fields: places,
    types,
    states: new Uint8Array(width),
    starts: new Int32Array(width),
    ends: new Int32Array(width),
    numbers: new Float64Array(width),
    texts: layout.names.map(() => ''),
    geometryType: layout.geometry.kind === 'xy' ? 'Point' : undefined,
    written: Int32Array.from(pass.columns, (column) =>
      column.kind === 'field' ? (fields[column.field] ?? special.none) : special[column.kind],
    ),
  }
}

function formOf({ geometry }: TableLayout, type: FieldType, column: number): number {
  if (geometry.kind === 'text' && geometry.column === column) return form.geometry
  return type === 'text' || type === 'integer' || type === 'number' || type === 'date' ? form[type] : form.other
}

/** A point is made of columns of numbers. */
function hasNumbers(place: GeometryPlace, forms: Uint8Array): boolean {
  if (place.kind !== 'xy') return place.kind !== 'pair'
  const { x, y, z } = place
  return [x, y, ...(z >= 0 ? [z] : [])].every(
    (column) => forms[column] === form.integer || forms[column] === form.number,
  )
}

/** Reads a whole row of as many cells as there are names. */
function readRow(window: RowWindow, row: Row): boolean {
  const { bytes } = window
  const last = row.forms.length - 1
  for (let column = 0; column <= last; column++) {
    const isQuoted = bytes[window.at] === 34
    if (isQuoted) window.at++
    if (!readCell(window, row, column, isQuoted)) return false
    if (isQuoted && bytes[window.at++] !== 34) return false
    if (column < last && bytes[window.at++] !== row.delimiter) return false
  }
  // A row of nothing is none.
  return !(last === 0 && row.states[0] === state.null) && endLine(window)
}

function endLine(window: RowWindow): boolean {
  const { bytes, at, end } = window
  const byte = bytes[at]
  if (at >= end) return window.isLast
  if (byte === 10) window.at++
  else if (byte !== 13 || (at + 1 >= end && !window.isLast)) return false
  else window.at += bytes[at + 1] === 10 ? 2 : 1
  return true
}

/** Reads up to the byte behind the cell, or its closing quote. */
function readCell(window: RowWindow, row: Row, column: number, isQuoted: boolean): boolean {
  const start = window.at
  const shape = row.forms[column]
  if (shape === form.geometry) {
    row.geometryType = readPlainWkt(window.bytes, window, row.pass.geometry)
    // Without quotes, the commas between positions are not part of the cell.
    return isQuoted || row.delimiter !== 44 || row.geometryType === 'Point'
  }
  if ((shape === form.integer || shape === form.number) && readNumber(window, row, column)) return true
  window.at = start
  skipCell(window, row, isQuoted)
  if (start === window.at && !(isQuoted && shape === form.text)) {
    row.states[column] = state.null
    return true
  }
  row.starts[column] = start
  row.ends[column] = window.at
  return readSpan(window.bytes, row, column)
}

function skipCell(window: RowWindow, { stops }: Row, isQuoted: boolean): void {
  const { bytes } = window
  let at = window.at
  if (isQuoted) {
    for (; bytes[at] !== 34 && bytes[at] !== 0; at++) if (bytes[at] === 10) window.line++
  } else while (stops[bytes[at] as number] === 0) at++
  window.at = at
}

function kindsAt(row: Row, column: number): number {
  return row.pass.found.kinds[row.fields[column] as number] ?? 0
}

/** A number of a kind that was seen in the column before. */
function readNumber(window: RowWindow, row: Row, column: number): boolean {
  const value = readPlainNumber(window.bytes, window)
  if (Number.isNaN(value) || row.stops[window.bytes[window.at] as number] === 0) return false
  const needed = window.hasPoint ? kind.float : kind.int4
  if ((kindsAt(row, column) & needed) === 0) return false
  row.numbers[column] = value
  row.states[column] = window.hasPoint ? state.float : state.integer
  return true
}

function readSpan(bytes: Buffer, row: Row, column: number): boolean {
  const known = kindsAt(row, column)
  const start = row.starts[column] as number
  const end = row.ends[column] as number
  if (row.forms[column] === form.text && known & kind.text) {
    row.states[column] = state.span
    return true
  }
  const days = row.forms[column] === form.date ? daysIn(bytes, start, end) : undefined
  if (days !== undefined) {
    row.numbers[column] = days
    row.states[column] = state.integer
    return true
  }
  const text = bytes.toString('utf8', start, end)
  const kinds = row.kindsOf(text)
  row.texts[column] = text
  row.states[column] = state.text
  return kinds !== 0 && (known | kinds) === known
}

/** Whether the geometry of the row, if the table has any, is of a kind that was seen before. */
function readGeometry(row: Row): boolean {
  const { layout, pass } = row
  if (layout.geometry.kind === 'none') return true
  if (layout.geometry.kind === 'xy' && !readPoint(row, layout.geometry)) return false
  const { types, hasZ } = pass.found
  if (pass.isBounded && !isInDegrees(pass.geometry.box)) return false
  return row.geometryType !== undefined && types.has(row.geometryType) && (hasZ || !pass.geometry.sawZ)
}

function readPoint({ states, numbers, pass }: Row, { x, y, z }: { x: number; y: number; z: number }): boolean {
  if (!isNumber(states[x]) || !isNumber(states[y]) || (z >= 0 && !isNumber(states[z]))) return false
  const { geometry } = pass
  beginGeometry(geometry)
  writeHeader(geometry, 'Point')
  writePosition(geometry, numbers[x] as number, numbers[y] as number, z >= 0 ? (numbers[z] as number) : 0)
  geometry.sawZ = z >= 0
  return true
}

const isNumber = (found: number | undefined): boolean => found === state.integer || found === state.float

function count({ pass, layout, fields, states }: Row): void {
  const { found, geometry } = pass
  found.featureCount++
  for (let column = 0; column < states.length; column++) {
    const field = fields[column] as number
    if (field >= 0 && states[column] !== state.null) found.valueCounts[field] = (found.valueCounts[field] ?? 0) + 1
  }
  if (layout.geometry.kind === 'none') found.missingCount++
  else found.extent = widenExtent(found.extent, geometry.box)
}

function write(row: Row, window: RowWindow): void {
  const { written, layout, pass } = row
  const { rows, geometry } = pass
  beginRow(rows, written.length)
  for (let index = 0; index < written.length; index++) {
    const column = written[index] as number
    if (column >= 0) writeCell(row, column, window)
    else if (column === special.fid) writeInt8(rows, pass.found.featureCount)
    else if (column === special.geometry && layout.geometry.kind !== 'none')
      writePart(rows, geometry, 0, geometry.length)
    else writeNull(rows)
  }
}

function writeCell(row: Row, column: number, window: RowWindow): void {
  const { rows } = row.pass
  switch (row.states[column]) {
    case state.null:
      writeNull(rows)
      break
    case state.span:
      writePart(rows, window, row.starts[column] as number, row.ends[column] as number)
      break
    case state.text:
      writeValue(rows, row.types[column] as FieldType, row.texts[column])
      break
    default:
      if (row.forms[column] === form.number) writeFloat8(rows, row.numbers[column] as number)
      else writeInt4(rows, row.numbers[column] as number)
  }
}
