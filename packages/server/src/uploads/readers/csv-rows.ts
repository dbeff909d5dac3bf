import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { ReadFault } from './reader.ts'

/** One cell: null when nothing at all is there, text (maybe empty) otherwise. */
export type Cell = string | null

/** `enough` is how long the text must be before another try to find a whole row in it. */
type Text = { text: string; isLast: boolean; delimiter: string; line: number; enough: number }

/** Less than in other formats: a geometry in text takes many times its size while it is read. */
const maxRowLength = 4 * 1024 * 1024

/** Reads the rows of a delimited file in UTF-8, in batches. Blank lines are none. */
export async function* readRows(
  file: string,
  { delimiter, signal }: { delimiter: string; signal: AbortSignal },
): AsyncGenerator<{ rows: Cell[][]; fraction: number }> {
  const { size } = await stat(file)
  const decoder = new TextDecoder('utf-8')
  const state: Text = { text: '', isLast: false, delimiter, line: 1, enough: 0 }
  let position = 0
  for await (const chunk of createReadStream(file, { highWaterMark: 64 * 1024, signal }) as AsyncIterable<Buffer>) {
    position += chunk.length
    state.text += decoder.decode(chunk, { stream: true })
    yield { rows: takeRows(state), fraction: position / size }
    if (state.text.length > maxRowLength)
      throw new ReadFault('row_too_large', 'A row is too large: is a quote not closed?', { line: state.line })
  }
  state.text += decoder.decode()
  state.isLast = true
  yield { rows: takeRows(state), fraction: 1 }
}

/** The rows of a piece of text; a row cut off by its end is left out. */
export function rowsOf(text: string, delimiter: string): Cell[][] {
  return takeRows({ text, isLast: false, delimiter, line: 1, enough: 0 })
}

/** Takes all whole rows off the text. */
function takeRows(state: Text): Cell[][] {
  const rows: Cell[][] = []
  if (state.text.length < state.enough && !state.isLast) return rows
  let at = 0
  for (;;) {
    const lineEnd = endOfLine(state, at)
    if (lineEnd < 0) break
    const line = state.text.slice(at, lineEnd)
    const quoted = line.includes('"') ? quotedRow(state, at) : undefined
    if (quoted === 'incomplete') break
    const cells = quoted?.cells ?? plainRow(line, state.delimiter)
    at = quoted?.end ?? lineEnd
    at = afterLineEnd(state.text, at)
    state.line++
    if (cells.length > 1 || cells[0] !== null) rows.push(cells)
  }
  state.text = state.text.slice(at)
  state.enough = rows.length === 0 ? state.text.length * 2 : 0
  return rows
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

function plainRow(line: string, delimiter: string): Cell[] {
  const cells: Cell[] = line.split(delimiter)
  const mayBeEmpty = line.startsWith(delimiter) || line.endsWith(delimiter) || line.includes(delimiter + delimiter)
  if (!mayBeEmpty && line !== '') return cells
  return cells.map((cell) => (cell === '' ? null : cell))
}

/** A row with quotes, which may hold delimiters and line ends. */
function quotedRow(state: Text, start: number): { cells: Cell[]; end: number } | 'incomplete' {
  const { text, delimiter } = state
  const cells: Cell[] = []
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

type FoundCell = { cell: Cell; end: number } | 'incomplete'

function plainCell({ text, delimiter, isLast }: Text, start: number): FoundCell {
  let end = start
  while (end < text.length && text[end] !== delimiter && text[end] !== '\n' && text[end] !== '\r') end++
  if (end === text.length && !isLast) return 'incomplete'
  return { cell: end === start ? null : text.slice(start, end), end }
}

function quotedCell(state: Text, start: number): FoundCell {
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
