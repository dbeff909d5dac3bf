import { writeValue } from '../engine/copy-binary.ts'
import { createReader } from '../engine/create-reader.ts'
import type { RowRules } from '../engine/impossible-rows.ts'
import type { Reading } from '../engine/reading.ts'
import { fieldsOf, kindsOfRecord, type SourceRecord, shapeOf, whereIs } from '../engine/records.ts'
import { closeTextWindow, fillTextWindow, openTextWindow, shareRead } from '../engine/text-window.ts'
import { kind, kindsOfText } from '../engine/type-inference.ts'
import { layerNameOf, type Reader, type Warning } from '../reader.ts'
import { layoutOfFile, type TableLayout } from '../table/layout.ts'
import { createTable } from '../table/table.ts'
import { createFastRow } from './fast.ts'
import { longPiece, type RowBatch, type RowWindow, rowsOfPiece, shortPiece } from './rows.ts'

type CsvOptions = {
  fileName: string
  warnings?: readonly Warning[]
  rules?: RowRules
  window?: number
  /** Plain rows are read from their bytes. */
  isFast?: boolean
}

/** CSV, TSV and their like in UTF-8. */
export async function openCsv(file: string, options: CsvOptions): Promise<Reader> {
  const layout = await layoutOfFile(file)
  const { fileName, rules = {} } = options
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
  const table = createTable(layout, { warnings, isStrict: rules.strict === true })
  const { coordinateNames, fields } = table
  const kindsOf = (cell: unknown) => (typeof cell === 'string' ? kindsOfText(cell, delimiter !== ',') : kind.none)
  const window: RowWindow = { ...openTextWindow(file, size), line: 1 }
  const fast = !isFast ? undefined : createFastRow(window, table, delimiter, kindsOf)
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
    kindsOf: (place, known) =>
      record ? kindsOfRecord(record.values[place], place, known, kindsOf) : (fast?.kindsOf(place, known) ?? kind.none),
    write(rows, place, type) {
      if (record) writeValue(rows, type, record.values[place])
      else fast?.write(rows, place, type)
    },
    fields: (kinds) => fieldsOf(fields.names, kinds),
    progress: () => shareRead(window),
    facts: table.facts,
    whereIs: (axis) => whereIs(record ?? fast?.place() ?? {}, coordinateNames?.[axis]),
    close: async () => closeTextWindow(window),
  }
}
