import { open } from 'node:fs/promises'
import type { GeometryWriter } from '../../../geometry/ewkb-writer.ts'
import { writeValue } from '../engine/copy-binary.ts'
import { createReader } from '../engine/create-reader.ts'
import type { RowRules } from '../engine/impossible-rows.ts'
import type { Reading, ReadingOptions, Shape } from '../engine/reading.ts'
import { fieldsOf, kindsOfRecord, type SourceRecord, shapeOf, whereIs } from '../engine/records.ts'
import { kind, kindsOfText } from '../engine/type-inference.ts'
import { layerNameOf, type Reader, type Warning } from '../reader.ts'
import { layoutOfFile, type TableLayout } from '../table/layout.ts'
import { createTable } from '../table/table.ts'
import { createFastRow } from './fast.ts'
import { createWindow, fillWindow, longPiece, type RowBatch, rowsOfPiece, shortPiece } from './rows.ts'

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
    open: (_, { signal }) => readCsv(file, layout, { ...options, signal }),
    rules,
  })
}

type CsvLayout = TableLayout & { delimiter: string }

async function readCsv(
  file: string,
  layout: CsvLayout,
  { warnings = [], window: size, rules = {}, isFast = true, signal }: CsvOptions & ReadingOptions,
): Promise<Reading> {
  const { delimiter } = layout
  const table = createTable(layout, { warnings, isStrict: rules.strict === true })
  const { coordinateNames, fields } = table
  const kindsOf = (cell: unknown) => (typeof cell === 'string' ? kindsOfText(cell, delimiter !== ',') : kind.none)
  const handle = await open(file)
  const { size: fileSize } = await handle.stat()
  const window = createWindow(size)
  const fast = !isFast ? undefined : createFastRow(window, table, delimiter, kindsOf)
  let [batch, at, skipped]: [RowBatch, number, number] = [{ rows: [], lines: [] }, -1, layout.skippedRows]
  let [pieceSize, pieceEnd] = [shortPiece, 0]
  /** Undefined for a row that was read from its bytes. */
  let record: SourceRecord | undefined
  let shape: Shape = 'missing'
  const next = (writer: GeometryWriter): boolean | Promise<boolean> => {
    const row = batch.rows[++at]
    if (row && skipped > 0) {
      skipped--
      return next(writer)
    }
    if (row) {
      record = table.recordOf(row, batch.lines[at] ?? 0)
      shape = shapeOf(record, writer, coordinateNames?.x)
      return true
    }
    if (skipped === 0 && fast?.read(writer)) {
      record = undefined
      shape = fast.shape()
      return true
    }
    return nextPiece(writer)
  }
  /** What is not plain is made text of, in pieces: small ones, as long as the rows behind them are plain again. */
  const nextPiece = (writer: GeometryWriter): boolean | Promise<boolean> => {
    pieceSize = window.at - pieceEnd > pieceSize ? shortPiece : Math.min(pieceSize * 2, longPiece)
    const rows = rowsOfPiece(window, delimiter, pieceSize)
    pieceEnd = window.at
    if (!rows) return window.isLast ? false : fill(writer)
    batch = rows
    at = -1
    return next(writer)
  }
  const fill = async (writer: GeometryWriter): Promise<boolean> => {
    signal.throwIfAborted()
    fillWindow(window, handle.fd, fileSize)
    pieceEnd = 0
    return next(writer)
  }
  return {
    places: [...fields.names.keys()],
    next,
    shape: () => shape,
    kindsOf: (place, known) =>
      record ? kindsOfRecord(record.values[place], place, known, kindsOf) : (fast?.kindsOf(place, known) ?? kind.none),
    write(rows, place, type) {
      if (record) writeValue(rows, type, record.values[place])
      else fast?.write(rows, place, type)
    },
    fields: (kinds) => fieldsOf(fields.names, kinds),
    progress: () => window.position / (fileSize || 1),
    facts: table.facts,
    whereIs: (axis) => whereIs(record ?? fast?.place() ?? {}, coordinateNames?.[axis]),
    close: () => handle.close(),
  }
}
