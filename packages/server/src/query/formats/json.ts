import type { AttributeType } from '../values/attribute.ts'
import type { Cell, OutputColumn, RowFormat } from './cell.ts'

/** An array of objects. */
export function jsonFormat(columns: readonly OutputColumn[]): RowFormat {
  return {
    contentType: 'application/json; charset=utf-8',
    begin: '[',
    separator: ',\n',
    end: ']\n',
    row: objectWriter(columns),
  }
}

/** Cells → the text of a JSON object. The names are written once, not for every row. */
export function objectWriter(columns: readonly OutputColumn[]): (cells: readonly Cell[]) => string {
  const parts = columns.map(({ name, type }, index) => ({
    prefix: `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`,
    write: jsonWriter(type),
  }))
  if (parts.length === 0) return () => '{}'
  return (cells) => {
    let text = ''
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index] as (typeof parts)[number]
      const cell = cells[index]
      text += part.prefix + (cell === null || cell === undefined ? 'null' : part.write(cell))
    }
    return `${text}}`
  }
}

/** The text of a value that is not null, as JSON. */
export function jsonWriter(type: AttributeType): (cell: string) => string {
  if (type === 'integer') return writeInteger
  if (type === 'number') return writeNumber
  if (type === 'boolean' || type === 'json' || type === 'array' || type === 'geometry') return (cell) => cell
  return JSON.stringify
}

/** Beyond 2^53 a reader's double would be another number, so the digits go as text. */
function writeInteger(cell: string): string {
  return cell.length <= 15 || Number.isSafeInteger(Number(cell)) ? cell : `"${cell}"`
}

function writeNumber(cell: string): string {
  return isExactDouble(cell) ? cell : `"${cell}"`
}

/** Is the number exact as a double? Not NaN, nor Infinity, nor with more digits than fit. */
function isExactDouble(cell: string): boolean {
  const number = Number(cell)
  if (!Number.isFinite(number)) return false
  // Fifteen significant digits always survive.
  return cell.length <= 15 || digitsOf(cell) === digitsOf(String(number))
}

/** `12.340e5` → `1234e3`: one text for one value. */
function digitsOf(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const trimmed = digits.replace(/0+$/, '')
  const scale = Number(exponent) - fraction.length + digits.length - trimmed.length
  return trimmed === '' ? '0' : `${sign === '-' ? '-' : ''}${trimmed}e${scale}`
}
