import type { AttributeType } from '../values/attribute.ts'
import type { Cell, OutputColumn, RowFormat } from './cell.ts'
import { guardFormula } from './formula-guard.ts'

/** RFC 4180. `isDownload`: the file may be opened in a spreadsheet, which must not take text for a formula. */
export function csvFormat(columns: readonly OutputColumn[], isDownload: boolean): RowFormat {
  const writers = columns.map(({ type }) => cellWriter(type, isDownload))
  const line = (cells: readonly Cell[]): string => {
    let text = ''
    for (let index = 0; index < writers.length; index++) {
      const cell = cells[index]
      if (index > 0) text += ','
      if (cell !== null && cell !== undefined) text += writers[index]?.(cell)
    }
    return `${text}\r\n`
  }
  const header = `${columns.map(({ name }) => quoted(isDownload ? guardFormula(name) : name)).join(',')}\r\n`
  return { contentType: 'text/csv; charset=utf-8; header=present', begin: header, separator: '', end: '', row: line }
}

/** Types whose text never holds a comma, a quote or a line end, and is never empty. */
const plainTypes: ReadonlySet<AttributeType> = new Set([
  'integer',
  'number',
  'boolean',
  'date',
  'datetime',
  'time',
  'uuid',
])

function cellWriter(type: AttributeType, isDownload: boolean): (cell: string) => string {
  if (plainTypes.has(type)) return (cell) => cell
  if (type === 'binary') return quoted
  return isDownload && type !== 'geometry' ? (cell) => quoted(guardFormula(cell)) : quoted
}

/** Null is an empty field, an empty text a quoted one: they can be told apart. */
function quoted(cell: string): string {
  if (cell !== '' && !/[",\r\n]|^\s|\s$/.test(cell)) return cell
  return `"${cell.replaceAll('"', '""')}"`
}
