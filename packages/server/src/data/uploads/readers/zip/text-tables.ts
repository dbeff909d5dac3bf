/** Tables in archives that are called .txt, as those of timetables (GTFS) are. Notes that lie beside the data are called so too. */
import { type CsvCell, rowsOf } from '../csv/rows.ts'
import { readStart } from '../file-start.ts'
import { ReadFault } from '../reader.ts'
import { sniff } from '../sniff.ts'
import { detectUtf16, utf16Text } from '../text/utf16.ts'

const startBytes = 64 * 1024
const lookedAt = 100

/** Whether a file is a table beyond doubt: a heading of short names, and rows as long as it. */
export async function isTextTable(path: string): Promise<boolean> {
  try {
    if ((await sniff(path)) !== 'csv') return false
    const head = await readStart(path, startBytes)
    const order = detectUtf16(head)
    const text = order ? utf16Text(head, order) : head.toString('latin1').replace(/^\xef\xbb\xbf/, '')
    const whole = head.length < startBytes ? `${text}\n` : text
    return [',', ';', '\t', '|'].some((delimiter) => areRows(rowsOf(whole, delimiter).slice(0, lookedAt)))
  } catch (error) {
    if (error instanceof ReadFault) return false
    throw error
  }
}

const mostOf = 0.9

function areRows([heading = [], ...rows]: readonly (readonly CsvCell[])[]): boolean {
  if (heading.length < 2 || !heading.every(isName) || new Set(heading).size < heading.length) return false
  return rows.filter(({ length }) => length === heading.length).length >= rows.length * mostOf
}

/** One to four words, without the marks of a sentence. */
const isName = (cell: CsvCell): boolean =>
  cell !== null && /^\s*[^\s.!?]+(\s+[^\s.!?]+){0,3}\s*$/.test(cell) && cell.length <= 63
