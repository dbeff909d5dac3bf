import type { TextWindow } from '../engine/text-window.ts'
import { ReadFault } from '../reader.ts'
import { wholeCharacters } from '../text/text-encoding.ts'

/** One cell: null when nothing at all is there, text (maybe empty) otherwise. */
export type CsvCell = string | null

/** Rows, and the line on which each begins. */
export type RowBatch = { rows: readonly (readonly CsvCell[])[]; lines: readonly number[] }

type Text = { text: string; isLast: boolean; delimiter: string; line: number }

/** A window of a delimited file; reading is at the beginning of a row, which is that of this line. */
export type RowWindow = TextWindow & { line: number }

/** Less than in other formats: a geometry in text takes many times its size while it is read. */
const maxRowLength = 4 * 1024 * 1024
/** So much is made text of at once. Less where the rows behind it may be plain again. */
export const longPiece = 64 * 1024
export const shortPiece = 2 * 1024

/** The rows in so many bytes, or more where these hold no whole row; undefined when the window holds none. */
export function rowsOfPiece(window: RowWindow, delimiter: string, least: number): RowBatch | undefined {
  const { bytes, at, end } = window
  for (let size = least; at < end; size *= 2) {
    const isLast = window.isLast && at + size >= end
    const cut = isLast ? end : at + wholeCharacters(bytes.subarray(at, Math.min(at + size, end)))
    const state: Text = { text: bytes.toString('utf8', at, cut), isLast, delimiter, line: window.line }
    const { length } = state.text
    const rows = takeRows(state)
    if (state.text.length < length) {
      window.at = cut - Buffer.byteLength(state.text)
      window.line = state.line
      return rows
    }
    if (at + size < end) continue
    if (length > maxRowLength)
      throw new ReadFault(
        'row_too_large',
        `A row is longer than ${maxRowLength} characters, the limit. Check that every quote is closed.`,
        { line: window.line },
      )
    return undefined
  }
  return undefined
}

/** The rows of a piece of text; a row cut off by its end is left out. */
export function rowsOf(text: string, delimiter: string): CsvCell[][] {
  return takeRows({ text, isLast: false, delimiter, line: 1 }).rows
}

/** Takes all whole rows off the text. */
function takeRows(state: Text): RowBatch & { rows: CsvCell[][] } {
  const rows: CsvCell[][] = []
  const lines: number[] = []
  let at = 0
  for (;;) {
    const lineEnd = endOfLine(state, at)
    if (lineEnd < 0) break
    const line = state.text.slice(at, lineEnd)
    const quoted = line.includes('"') ? quotedRow(state, at) : undefined
    if (quoted === 'incomplete') break
    const cells = quoted?.cells ?? plainRow(line, state.delimiter)
    if (cells.length > 1 || cells[0] !== null) {
      rows.push(cells)
      lines.push(state.line)
    }
    const end = quoted?.end ?? lineEnd
    state.line += 1 + (end > lineEnd ? state.text.slice(at, end).split('\n').length - 1 : 0)
    at = afterLineEnd(state.text, end)
  }
  state.text = state.text.slice(at)
  return { rows, lines }
}

/** Where the line that starts here ends; below 0 when its end is not there yet. */
function endOfLine({ text, isLast }: Text, at: number): number {
  if (at >= text.length) return -1
  const lineFeed = text.indexOf('\n', at)
  // Old files end lines with a carriage return alone.
  const until = lineFeed < 0 ? text.length : lineFeed
  const carriage = text.slice(at, until).indexOf('\r')
  if (carriage >= 0 && (at + carriage + 1 < text.length || isLast)) return at + carriage
  if (lineFeed >= 0) return lineFeed
  return isLast ? text.length : -1
}

function afterLineEnd(text: string, at: number): number {
  if (text[at] === '\r' && text[at + 1] === '\n') return at + 2
  return at < text.length ? at + 1 : at
}

function plainRow(line: string, delimiter: string): CsvCell[] {
  const cells: CsvCell[] = line.split(delimiter)
  const mayBeEmpty = line.startsWith(delimiter) || line.endsWith(delimiter) || line.includes(delimiter + delimiter)
  if (!mayBeEmpty && line !== '') return cells
  return cells.map((cell) => (cell === '' ? null : cell))
}

/** A row with quotes, which may hold delimiters and line ends. */
function quotedRow(state: Text, start: number): { cells: CsvCell[]; end: number } | 'incomplete' {
  const { text, delimiter } = state
  const cells: CsvCell[] = []
  let at = start
  for (;;) {
    const cell = text[at] === '"' ? quotedCell(state, at) : plainCell(state, at)
    if (cell === 'incomplete') return cell
    cells.push(cell.cell)
    at = cell.end
    if (text[at] !== delimiter) return { cells, end: at }
    at++
  }
}

type CellSpan = { cell: CsvCell; end: number } | 'incomplete'

function plainCell({ text, delimiter, isLast }: Text, start: number): CellSpan {
  let end = start
  while (end < text.length && text[end] !== delimiter && text[end] !== '\n' && text[end] !== '\r') end++
  if (end === text.length && !isLast) return 'incomplete'
  return { cell: end === start ? null : text.slice(start, end), end }
}

function quotedCell(state: Text, start: number): CellSpan {
  const { text, isLast, line } = state
  let at = start + 1
  for (;;) {
    const quote = text.indexOf('"', at)
    if (quote < 0 && isLast) throw new ReadFault('truncated', 'A quote is not closed.', { line })
    if (quote < 0) return 'incomplete'
    if (text[quote + 1] !== '"') {
      const rest = plainCell(state, quote + 1)
      if (rest === 'incomplete') return rest
      // Text behind the closing quote is kept.
      return { cell: text.slice(start + 1, quote).replaceAll('""', '"') + (rest.cell ?? ''), end: rest.end }
    }
    at = quote + 2
  }
}
