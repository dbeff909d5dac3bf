// An Excel workbook with one sheet. Strings are written in their cells: a table of shared ones would have to be in memory.
import { ApiError } from '../../../kernel/errors.ts'
import type { Cell } from '../cell.ts'
import type { ExportColumn, ExportOrder, ExportRows } from './export-order.ts'
import { daysOf, isInfinite, timeMicrosOf } from './export-values.ts'
import { workbookParts } from './xlsx-parts.ts'
import { escapeXml } from './xml-text.ts'
import { zipStream } from './zip-stream.ts'

/** With the one of the headings. */
const maxRows = 1_048_576
const maxCellLength = 32_767
const maxDigits = 15
const chunkLength = 64 * 1024

export const writeXlsx = (rows: ExportRows, order: ExportOrder): AsyncIterable<Uint8Array> =>
  zipStream([...workbookParts(order), { name: 'xl/worksheets/sheet1.xml', pieces: () => sheet(rows, order.columns) }])

async function* sheet(rows: ExportRows, columns: readonly ExportColumn[]): AsyncGenerator<Uint8Array> {
  const letters = columns.map((_, index) => columnLetters(index))
  const headings = columns.map(({ name }, index) => textCell(`${letters[index]}1`, name))
  let text =
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' +
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>' +
    `<row r="1">${headings.join('')}</row>`
  let number = 1
  for await (const batch of rows) {
    for (const cells of batch) {
      number++
      if (number > maxRows) throw tooManyRows()
      text += `<row r="${number}">`
      for (const [index, column] of columns.entries())
        text += cellXml(`${letters[index]}${number}`, column, cells[index] ?? null)
      text += '</row>'
      if (text.length < chunkLength) continue
      yield Buffer.from(text)
      text = ''
    }
  }
  yield Buffer.from(`${text}</sheetData></worksheet>`)
}

/** 0 → A, 26 → AA. */
function columnLetters(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26))
  return index < 26 ? letter : columnLetters(Math.floor(index / 26) - 1) + letter
}

/** Numbers of the cell formats in xlsx-parts.ts. */
const style = { date: 1, datetime: 2, time: 3 } as const

function cellXml(name: string, column: ExportColumn, cell: Cell): string {
  if (cell === null) return ''
  const number = numberOf(column, cell)
  if (number !== undefined) {
    const format = column.type in style ? ` s="${style[column.type as keyof typeof style]}"` : ''
    return `<c r="${name}"${format}><v>${number}</v></c>`
  }
  if (column.type === 'boolean') return `<c r="${name}" t="b"><v>${cell === 'true' ? 1 : 0}</v></c>`
  return textCell(name, cell.length > maxCellLength ? tooLong(column, cell) : cell)
}

/** What Excel holds exactly; undefined where text keeps more. */
function numberOf({ type, withZone }: ExportColumn, cell: string): string | undefined {
  if (type === 'integer' || type === 'number') return isExact(cell) ? cell : undefined
  if (type === 'time') return withZone ? undefined : String(dayFraction(cell))
  if (type !== 'date' && type !== 'datetime') return undefined
  const days = isInfinite(cell) ? Number.NaN : daysOf(cell) + serialEpoch
  // Before March 1900 Excel counts a day that never was; after 9999 it has none.
  if (!(days >= firstSerial && days <= lastSerial)) return undefined
  if (type === 'date') return String(days)
  const time = cell.slice(cell.search(/[T ]/))
  const serial = days + dayFraction(time)
  // In the years from 2079 on a fraction of a day is coarser than a microsecond.
  return microsOfSerial(serial) === timeMicrosOf(time) ? String(serial) : undefined
}

const microsOfSerial = (serial: number): bigint => BigInt(Math.round((serial - Math.floor(serial)) * microsPerDay))

const serialEpoch = 25_569
const [firstSerial, lastSerial] = [61, 2_958_465]
const microsPerDay = 86_400_000_000

const dayFraction = (time: string): number => Number(timeMicrosOf(time)) / microsPerDay

const isExact = (cell: string): boolean =>
  Number.isFinite(Number(cell)) && cell.replace(/e.*$/i, '').replace(/^-?0*\.?0*|[-.]/g, '').length <= maxDigits

/** Excel reads `_x0041_` as "A": where a text has that, its first underscore is written so. */
const textCell = (name: string, text: string): string =>
  `<c r="${name}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(text).replaceAll(/_(?=x[\da-f]{4}_)/gi, '_x005F_')}</t></is></c>`

/** A geometry gives way to a remark; of other values none may be lost. */
function tooLong({ name, type }: ExportColumn, cell: string): string {
  if (type === 'geometry') return `${/^\w*/.exec(cell)?.[0]} of ${cell.length} characters, too long for a cell`
  const detail = `A value of "${name}" has ${cell.length} characters; a cell of Excel has at most ${maxCellLength}. Leave the attribute out, or use format=csv.`
  throw new ApiError('too_large', detail)
}

const tooManyRows = (): ApiError =>
  new ApiError(
    'too_many_rows',
    `A sheet of Excel has at most ${maxRows - 1} rows. Give a limit or a filter, or use format=csv.`,
  )
