import { mkdtemp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import readWorkbook from 'read-excel-file/node'
import type { TableNote } from '../../../../query/formats/table-note.ts'
import { createReader } from '../engine/create-reader.ts'
import type { Reading } from '../engine/reading.ts'
import { readRecords } from '../engine/records.ts'
import { kindsOfLoose } from '../engine/type-inference.ts'
import { type Reader, type ReaderOptions, ReadFault, type Warning } from '../reader.ts'
import { createTable } from '../table/table.ts'
import { tableRulesOf } from '../table-rules.ts'
import { batchesOf, filledSheets, readSheet, type SheetRows } from '../workbook/sheets.ts'
import { type UnzippedFile, unzip, zipLimits } from '../zip/zip.ts'
import { notedLayout, type RawCells, readNote, readRawCells, wholeValue } from './noted-sheet.ts'
import { findLosses } from './sheet-losses.ts'

/** The workbook lies in memory as a whole. */
const limits = { ...zipLimits, expandedBytes: 64 * 1024 * 1024 }

/** A workbook: every sheet that holds more than a header is a layer, read by the rules of CSV. */
export async function openXlsx(file: string, options: ReaderOptions): Promise<Reader> {
  const files = await unpackSafely(file, options)
  const losses = await findLosses(files)
  // What the client says of a table wins over what it says itself.
  const note = Object.keys(tableRulesOf(options)).length === 0 ? await readNote(files) : undefined
  const cells = note && (await readRawCells(files))
  const chosen = filledSheets(await sheetsOf(file))
  return createReader({
    format: 'xlsx',
    layers: [...chosen.keys()],
    open: (layer) => {
      const [rows, warnings] = [chosen.get(layer) ?? [], losses.get(layer) ?? []]
      const noted = note && readNotedSheet(rows, note, cells?.get(layer) ?? new Map(), warnings)
      return (
        noted ??
        readSheet(
          rows.map((row) => row.map(withoutZone)),
          options,
          warnings,
        )
      )
    },
    rules: options,
  })
}

/** Unpacks it once by our own rules: sizes that lie, bombs and entities never reach the library. */
async function unpackSafely(
  file: string,
  { directory, signal, onAdvance }: ReaderOptions,
): Promise<readonly UnzippedFile[]> {
  const own = await mkdtemp(join(directory, 'xlsx-'))
  const files = await unzip(file, own, { limits, signal, ...(onAdvance && { onAdvance }) })
  for (const { path, name } of files) {
    if (!/\.(xml|rels)$/i.test(name)) continue
    const text = await readFile(path, 'latin1')
    if (/<!(DOCTYPE|ENTITY)/i.test(text))
      throw new ReadFault('invalid_xml', 'XML with a document type (<!DOCTYPE …>) is not supported. Remove it.')
  }
  return files
}

async function sheetsOf(file: string): Promise<Map<string, SheetRows>> {
  try {
    const sheets = await readWorkbook(file, { trim: false })
    return new Map(sheets.map(({ sheet, data }) => [sheet, (data as SheetRows).map((row) => row.map(withoutEscapes))]))
  } catch (error) {
    throw new ReadFault('invalid_file', 'The workbook cannot be read.', {}, error)
  }
}

/** `_x000D_` stands for a character that XML has not, or would change; `_x005F_` for the underscore before such a one. */
const withoutEscapes = (value: unknown): unknown =>
  typeof value === 'string' && value.includes('_x')
    ? value.replaceAll(/_x([\da-f]{4})_/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    : value

/** Dates of a workbook have no time zone, and whole seconds are a millisecond off: days are counted in fractions. */
function withoutZone(value: unknown): unknown {
  if (!(value instanceof Date)) return value
  if (Number.isNaN(value.getTime())) return null
  const seconds = Math.round(value.getTime() / 1000) * 1000
  const moment = Math.abs(seconds - value.getTime()) <= 2 ? new Date(seconds) : value
  return moment.toISOString().replace(/(T00:00:00)?\.000Z$|Z$/, '')
}

/** A sheet of our own exports; undefined if it is changed so much that its note says nothing of it. */
function readNotedSheet(
  rows: SheetRows,
  note: TableNote,
  cells: RawCells,
  warnings: readonly Warning[],
): Reading | undefined {
  const layout = notedLayout(rows[0] ?? [], note)
  if (!layout) return undefined
  const noted = layout.names.map((name) => layout.columns.get(name))
  const wholeRow = (row: unknown[], index: number): unknown[] =>
    noted.map((known, column) =>
      known ? wholeValue(row[column], index, column, cells, known) : withoutZone(row[column] ?? null),
    )
  const table = createTable(layout, { warnings, isStrict: false, rules: { nulls: [] } })
  return readRecords({
    ...table,
    facts: () => ({ ...table.facts(), note, isSpatial: note.geometry !== undefined }),
    noted: (place) => noted[table.columns[place] ?? -1],
    kindsOf: (value) => kindsOfLoose(value, {}, false),
    batches: batchesOf(rows.map(wholeRow), table),
  })
}
