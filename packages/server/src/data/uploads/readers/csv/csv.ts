import { findGuardedColumns } from '../../../../query/formats/formula-guard.ts'
import { writeValue } from '../engine/copy-binary.ts'
import { createReader } from '../engine/create-reader.ts'
import type { RowRules } from '../engine/impossible-rows.ts'
import type { Reading } from '../engine/reading.ts'
import { fieldsOf, kindsOfRecord, type SourceRecord, shapeOf, whereIs } from '../engine/records.ts'
import { closeTextWindow, fillTextWindow, openTextWindow, shareRead } from '../engine/text-window.ts'
import { kind, kindsOfText, kindsOfValue } from '../engine/type-inference.ts'
import { layerNameOf, type Reader, type Warning } from '../reader.ts'
import { layoutOfFile, type TableLayout } from '../table/layout.ts'
import { createTable, type TabularLayer } from '../table/table.ts'
import { isDateHeading } from '../table/table-faults.ts'
import { chosenTypeOf } from '../table/typed-cell.ts'
import type { TableRules } from '../table-rules.ts'
import { createFastRow } from './fast.ts'
import { guardedField } from './guarded-columns.ts'
import { longPiece, type RowBatch, type RowWindow, rowsOfPiece, shortPiece } from './rows.ts'

type CsvOptions = {
  fileName: string
  warnings?: readonly Warning[]
  rules?: RowRules & TableRules
  window?: number
  /** Plain rows are read from their bytes. */
  isFast?: boolean
}

/** CSV, TSV and their like in UTF-8. */
export async function openCsv(file: string, options: CsvOptions): Promise<Reader> {
  const { fileName, rules = {} } = options
  const layout = await layoutOfFile(file, rules)
  return createReader({
    format: 'csv',
    layers: [layerNameOf(fileName)],
    open: () => readCsv(file, layout, options),
    rules,
  })
}

type CsvLayout = TableLayout & { delimiter: string }

const windowBytes = 256 * 1024

function readCsv(file: string, layout: CsvLayout, options: CsvOptions): Reading {
  const { warnings = [], window: size = windowBytes, rules = {}, isFast = true } = options
  const { delimiter } = layout
  const table = createTable(layout, { warnings, isStrict: rules.strict === true, rules })
  const { coordinateNames, fields } = table
  const kindsOf = createKindsOf(table, rules, delimiter)
  const guards = findGuardedColumns(fields.names.length)
  const window: RowWindow = { ...openTextWindow(file, size), line: 1 }
  // Values of a given type, and those that stand for nothing, are known by their text.
  const isPlain = isFast && rules.types === undefined && rules.nulls === undefined
  const fast = !isPlain ? undefined : createFastRow(window, table, delimiter, { kindsOf, noteText: guards.note })
  let [batch, at, skipped]: [RowBatch, number, number] = [{ rows: [], lines: [] }, -1, layout.skippedRows]
  let [pieceSize, pieceEnd] = [shortPiece, 0]
  /** Undefined for a row that was read from its bytes. */
  let record: SourceRecord | undefined
  /** What is not plain is made text of, in pieces: small ones, as long as the rows behind them are plain again. */
  const nextPiece = (): boolean => {
    pieceSize = window.at - pieceEnd > pieceSize ? shortPiece : Math.min(pieceSize * 2, longPiece)
    const rows = rowsOfPiece(window, delimiter, pieceSize)
    pieceEnd = window.at
    if (!rows) return false
    batch = rows
    const passedOver = Math.min(skipped, rows.rows.length)
    skipped -= passedOver
    at = passedOver - 1
    return true
  }
  return {
    places: [...fields.names.keys()],
    next(writer) {
      for (;;) {
        const row = batch.rows[++at]
        if (row) {
          record = table.recordOf(row, batch.lines[at] ?? 0)
          return shapeOf(record, writer, coordinateNames?.x)
        }
        if (skipped === 0 && fast?.read(writer)) {
          record = undefined
          return fast.shape()
        }
        if (!nextPiece()) return undefined
      }
    },
    async fill() {
      pieceEnd = 0
      return fillTextWindow(window)
    },
    kindsOf(place, known) {
      if (!record) return fast?.kindsOf(place, known) ?? kind.none
      const value = record.values[place]
      if (typeof value === 'string') guards.note(place, value)
      return kindsOfRecord(value, place, known, kindsOf)
    },
    write(rows, place, type, local) {
      if (record) writeValue(rows, type, record.values[place], local)
      else fast?.write(rows, place, type, local)
    },
    fields: (kinds) =>
      fieldsOf(fields.names, kinds, table.typeOf).map((field) =>
        chosenTypeOf(rules, field.name) ? field : guardedField(field, guards),
      ),
    progress: () => shareRead(window),
    facts: table.facts,
    whereIs: (axis) => whereIs(record ?? fast?.place() ?? {}, coordinateNames?.[axis]),
    close: async () => closeTextWindow(window),
  }
}

/** The kinds of a cell. One of a given type is no text any more. */
function createKindsOf({ fields }: TabularLayer, { dateOrder, decimal, nulls }: TableRules, delimiter: string) {
  const customs = { hasDecimalComma: delimiter !== ',', dateOrder, decimal, nulls }
  const areDates = fields.names.map(isDateHeading)
  return (cell: unknown, place: number): number => {
    if (typeof cell !== 'string') return kindsOfValue(cell)
    return cell === '' ? kind.none : kindsOfText(cell, customs, areDates[place])
  }
}
