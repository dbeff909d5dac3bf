/** Sheets of our own exports, whose note says what their columns are. */
import { readFile } from 'node:fs/promises'
import { type NotedColumn, noteName, parseNote, type TableNote } from '../../../../query/formats/table-note.ts'
import type { TableLayout } from '../table/layout.ts'
import type { UnzippedFile } from '../zip/zip.ts'
import { sheetFiles, unescaped } from './sheet-losses.ts'

export async function readNote(files: readonly UnzippedFile[]): Promise<TableNote | undefined> {
  for (const { name, path } of files) {
    if (!/^customXml\/item\d+\.xml$/i.test(name)) continue
    const text = await readFile(path, 'utf8')
    const [, note] = /<columns xmlns="([^"]*)">([^<]*)<\/columns>\s*$/.exec(text) ?? []
    if (note === noteName) return parseNote(unescaped(/>([^<]*)<\/columns>/.exec(text)?.[1] ?? ''))
  }
  return undefined
}

/** A sheet as its note describes it; undefined if its heading has not all of the columns any more. */
export function notedLayout(
  heading: readonly unknown[],
  { columns, geometry }: TableNote,
): (TableLayout & { columns: Map<string, NotedColumn> }) | undefined {
  const names = heading.map(String)
  const isWhole = [...columns, ...(geometry ? [geometry] : [])].every(({ name }) => names.includes(name))
  if (!isWhole || new Set(names).size < names.length) return undefined
  return {
    names,
    geometry: geometry ? { kind: 'text', column: names.indexOf(geometry.name) } : { kind: 'none' },
    srid: geometry?.srid,
    titles: 0,
    skippedRows: 1,
    hasLongRows: false,
    warnings: [],
    columns: new Map(columns.map((column) => [column.name, column])),
  }
}

/** Cells as the file has them, by their names: numbers, and empty texts. */
export type RawCells = ReadonlyMap<string, number | ''>

const numberCell = /<c r="([A-Z]{1,3}\d{1,7})"[^<>]*><v>([\d.eE+-]+)<\/v>/g
const emptyTextCell = /<c r="([A-Z]{1,3}\d{1,7})" t="inlineStr"><is><t xml:space="preserve"><\/t>/g

/** What the library leaves out, by sheet: its dates end at milliseconds, and an empty text is nothing to it. */
export async function readRawCells(files: readonly UnzippedFile[]): Promise<Map<string, RawCells>> {
  const sheets = new Map<string, RawCells>()
  for (const { sheet, path } of await sheetFiles(files)) {
    const xml = await readFile(path, 'latin1')
    const numbers = [...xml.matchAll(numberCell)].map(([, cell = '', value]) => [cell, Number(value)] as const)
    const texts = [...xml.matchAll(emptyTextCell)].map(([, cell = '']) => [cell, ''] as const)
    sheets.set(sheet, new Map<string, number | ''>([...numbers, ...texts]))
  }
  return sheets
}

const unixEpochSerial = 25_569
const dayMs = 86_400_000
const microsPerDay = 86_400_000_000

/** The text of a date or time with the microseconds of its serial number, if that is what the library has made the date of. */
function momentText(date: Date, serial: number | undefined, { type }: NotedColumn): string {
  const isSame = serial !== undefined && Math.abs((serial - unixEpochSerial) * dayMs - date.getTime()) < 1_000
  const days = isSame ? Math.floor(serial) : Math.floor(date.getTime() / dayMs) + unixEpochSerial
  const rest = isSame ? serial - days : (date.getTime() % dayMs) / dayMs
  const micros = Math.round((rest < 0 ? rest + 1 : rest) * microsPerDay)
  const day = new Date((days - unixEpochSerial) * dayMs).toISOString().slice(0, 10)
  const clock = new Date(Math.floor(micros / 1_000)).toISOString().slice(11, 19)
  const time = `${clock}.${String(micros % 1_000_000).padStart(6, '0')}`
  if (type === 'time') return time
  return type === 'date' && micros === 0 ? day : `${day}T${time}`
}

/** The value of a noted column with what the library leaves out of it. */
export function wholeValue(value: unknown, row: number, column: number, cells: RawCells, noted: NotedColumn): unknown {
  const isDate = value instanceof Date && !Number.isNaN(value.getTime())
  if (!isDate && value !== null && value !== undefined) return value
  const raw = cells.get(`${columnLetters(column)}${row + 1}`)
  return isDate ? momentText(value, raw === '' ? undefined : raw, noted) : raw === '' ? '' : null
}

/** 0 → A, 26 → AA. */
const columnLetters = (index: number): string =>
  (index < 26 ? '' : columnLetters(Math.floor(index / 26) - 1)) + String.fromCharCode(65 + (index % 26))
