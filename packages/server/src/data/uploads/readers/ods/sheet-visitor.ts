// The rows of an OpenDocument spreadsheet, as the elements of its content.xml come by.
import { maxFields, ReadFault } from '../reader.ts'
import type { SheetRows } from '../workbook/sheets.ts'

/** What LibreOffice has room for. Rows that are repeated take no memory, but are rows. */
const maxRows = 1_048_576
const maxCells = 20_000_000

type Attributes = Readonly<Record<string, string>>

export type SheetVisitor = {
  readonly sheets: ReadonlyMap<string, SheetRows>
  onOpen(name: string, attributes: Attributes): void
  onText(text: string): void
  onClose(name: string): void
}

type Cell = { readonly attributes: Attributes; text: string; paragraphs: number }

const isCell = (name: string): boolean => name === 'table:table-cell' || name === 'table:covered-table-cell'

/** Notes and drawings lie in cells, with texts of their own. */
const isAside = (name: string): boolean => name === 'office:annotation' || name.startsWith('draw:')

/** Characters that have an element, because XML would lose them. */
const characters: Readonly<Record<string, (attributes: Attributes) => string>> = {
  'text:s': (attributes) => ' '.repeat(Math.min(repeats(attributes['text:c']), 1_000)),
  'text:tab': () => '\t',
  'text:line-break': () => '\n',
}

export function createSheetVisitor(): SheetVisitor {
  const sheets = new Map<string, SheetRows>()
  let sheet = createSheet()
  let [tables, asides, inText, rowRepeats] = [0, 0, 0, 1]
  let row: unknown[] = []
  let blanks = 0
  let cell: Cell | undefined
  const openCell = (name: string, attributes: Attributes): void => {
    if (isAside(name)) asides++
    if (asides > 0 || !cell) return
    if (name === 'text:p') {
      inText++
      if (cell.paragraphs++ > 0) cell.text += '\n'
    } else if (inText > 0) cell.text += characters[name]?.(attributes) ?? ''
  }
  return {
    sheets,
    onOpen(name, attributes) {
      if (name === 'table:table' && ++tables === 1) {
        sheet = createSheet()
        sheets.set(attributes['table:name'] ?? `Sheet${sheets.size + 1}`, sheet.rows)
      } else if (name === 'table:table-row' && tables === 1) {
        row = []
        blanks = 0
        rowRepeats = repeats(attributes['table:number-rows-repeated'])
      } else if (isCell(name) && tables === 1) cell = { attributes, text: '', paragraphs: 0 }
      else openCell(name, attributes)
    },
    onText(text) {
      if (cell && inText > 0 && asides === 0) cell.text += text
    },
    onClose(name) {
      if (name === 'table:table') tables--
      else if (name === 'text:p' && asides === 0 && inText > 0) inText--
      else if (isAside(name)) asides--
      else if (isCell(name) && cell && tables === 1) {
        blanks = addCells(row, blanks, cellValue(cell), repeats(cell.attributes['table:number-columns-repeated']))
        cell = undefined
      } else if (name === 'table:table-row' && tables === 1) sheet.add(row, rowRepeats)
    },
  }
}

function repeats(text: string | undefined): number {
  const count = Number(text ?? 1)
  return Number.isSafeInteger(count) && count > 0 ? count : 1
}

/** Blank cells are added once another follows: a row ends with as many as the sheet has columns. Answers how many wait. */
function addCells(row: unknown[], blanks: number, value: unknown, count: number): number {
  if (value === null) return blanks + count
  if (row.length + blanks + count > maxFields)
    throw new ReadFault('too_many_columns', `The table has more than ${maxFields} columns, the limit.`)
  for (let blank = 0; blank < blanks; blank++) row.push(null)
  for (let copy = 0; copy < count; copy++) row.push(value)
  return 0
}

function createSheet() {
  const rows: SheetRows = []
  let blankRows = 0
  let cells = 0
  return {
    rows,
    add(row: unknown[], count: number): void {
      if (row.length === 0) {
        blankRows += count
        return
      }
      cells += row.length * count
      if (rows.length + blankRows + count > maxRows || cells > maxCells)
        throw new ReadFault('expansion_limit', `A sheet has more than ${maxRows} rows or ${maxCells} cells, the limit.`)
      for (; blankRows > 0; blankRows--) rows.push([])
      for (let copy = 0; copy < count; copy++) rows.push(row)
    },
  }
}

/** The value as the attributes have it; else the text as it is shown. */
function cellValue({ attributes, text, paragraphs }: Cell): unknown {
  const shown = paragraphs > 0 ? text : null
  const type = attributes['office:value-type']
  if (type === 'float' || type === 'percentage' || type === 'currency') {
    const number = Number(attributes['office:value'] ?? Number.NaN)
    return Number.isFinite(number) ? number : shown
  }
  if (type === 'boolean') return attributes['office:boolean-value'] === 'true'
  if (type === 'date') return attributes['office:date-value'] ?? shown
  if (type === 'time') return clockOf(attributes['office:time-value']) ?? shown
  return attributes['office:string-value'] ?? shown
}

/** PT10H20M30.5S as a time of the day; undefined for other durations. */
function clockOf(duration: string | undefined): string | undefined {
  const [, hours, minutes, seconds, fraction = ''] = /^PT(\d+)H(\d+)M(\d+)(\.\d+)?S$/.exec(duration ?? '') ?? []
  if (hours === undefined || minutes === undefined || seconds === undefined || Number(hours) > 23) return undefined
  return `${[hours, minutes, seconds].map((part) => part.padStart(2, '0')).join(':')}${fraction}`
}
