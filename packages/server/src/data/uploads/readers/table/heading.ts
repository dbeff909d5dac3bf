// Which row of a table is its heading, if any: titles and comments may stand above it, and a table may have none.
import type { CsvCell } from '../csv/rows.ts'
import { kind, kindsOfText } from '../engine/type-inference.ts'
import type { Warning } from '../reader.ts'
import type { TableRules } from '../table-rules.ts'

export type Heading = {
  /** So many rows come before it, or before the first row of a table without one. */
  readonly titles: number
  readonly hasHeading: boolean
  readonly warnings: readonly Warning[]
}

export const sampleRows = 200

export function findHeading(rows: readonly (readonly CsvCell[])[], { header }: TableRules): Heading {
  const titles = titleRows(rows)
  if (header !== undefined) return { titles, hasHeading: header, warnings: [] }
  const [first = [], ...others] = rows.slice(titles, titles + sampleRows)
  const hasHeading = isHeading(first, others)
  return { titles, hasHeading, warnings: hasHeading || others.length === 0 ? [] : [noHeading] }
}

const noHeading: Warning = {
  code: 'no_heading',
  message:
    'The first row looks like the others, so it was read as data, and the columns are called column_1, column_2 and so on. If it is the heading, give the field header: "true".',
}

const sameWords = kind.text | kind.json
const moments = kind.date | kind.timestamp | kind.timestamptz | kind.time
const localMoments = kind.dayFirst | kind.monthFirst | kind.dayOrMonth | kind.sureDate
const truths = kind.boolean | kind.yes | kind.no

/** Words and dates; numbers are none, however they are written. */
const isText = (cell: CsvCell): boolean =>
  cell !== null && (kindsOfText(cell) & (kind.text | truths | localMoments)) !== 0

type CellClass = 'nothing' | 'text' | 'number' | 'moment' | 'truth'

function classOf(cell: CsvCell | undefined): CellClass {
  const kinds = kindsOfText(cell?.trim() ?? '') & ~kind.nullWord
  if (kinds === kind.none) return 'nothing'
  if (kinds & sameWords) return 'text'
  if (kinds & truths) return 'truth'
  return kinds & (moments | localMoments) ? 'moment' : 'number'
}

/** Whether a row differs from the others: where they have values of a type it has none, or it counts the columns. */
function isHeading(first: readonly CsvCell[], others: readonly (readonly CsvCell[])[]): boolean {
  const columns = first.map((cell, column) => ({ column, own: classOf(cell), usual: classOfColumn(others, column) }))
  const filled = columns.filter(({ own, usual }) => own !== 'nothing' && usual !== 'nothing')
  const typed = filled.filter(({ own, usual }) => own === usual && own !== 'text').map(({ column }) => column)
  const isOther = typed.length === 0 || filled.some(({ own, usual }) => own !== usual)
  return (isOther && first.some(isText)) || isSeries(first, typed, others)
}

/** The class of all cells of a column; text where they differ. */
function classOfColumn(rows: readonly (readonly CsvCell[])[], column: number): CellClass {
  const classes = new Set(rows.map((row) => classOf(row[column])))
  classes.delete('nothing')
  const [only = 'nothing'] = classes
  return classes.size > 1 ? 'text' : only
}

const fewestOfSeries = 3

/** Columns of a wide table are often called by years, or counted: as no other row is. */
function isSeries(
  first: readonly CsvCell[],
  columns: readonly number[],
  others: readonly (readonly CsvCell[])[],
): boolean {
  const isCounted = (row: readonly CsvCell[]) => {
    const numbers = columns.map((column) => wholeNumber(row[column]))
    return areYears(numbers) || areSteps(numbers)
  }
  return isCounted(first) && others.filter(isCounted).length * 2 < others.length
}

const wholeNumber = (cell: CsvCell | undefined): number =>
  /^\d{1,9}$/.test(cell?.trim() ?? '') ? Number(cell) : Number.NaN
const areYears = (numbers: readonly number[]): boolean => numbers.every((one) => one >= 1500 && one <= 2200)

function areSteps([one = 0, two = 0, ...rest]: readonly number[]): boolean {
  const step = two - one
  if (rest.length + 2 < fewestOfSeries || !(step > 0)) return false
  return [two, ...rest].every((number, index) => number === one + step * (index + 1))
}

/** A title may stand above the heading, and a few lines of where the data come from. */
const mostTitles = 20

/** How many rows stand above the heading: comments, or text or nothing in fewer cells than half of what most rows hold. */
function titleRows(rows: readonly (readonly CsvCell[])[]): number {
  const filled = rows.slice(0, sampleRows).map((row) => row.filter((cell) => cell !== null && cell !== '').length)
  const usual = mostFrequent(filled)
  const comments = commentRows(rows, usual)
  const enough = Math.max(2, Math.ceil(usual / 2))
  const heading = filled.findIndex((count, index) => count >= enough && index >= comments)
  const isTitle = (row: readonly CsvCell[], index: number) => filled[index] === 0 || row.some(isText)
  const isPlausible = heading > 0 && heading <= mostTitles && rows.slice(0, heading).every(isTitle)
  return isPlausible ? heading : 0
}

/** How many rows at the beginning are comments with a hash. The last row with one may be the heading. */
function commentRows(rows: readonly (readonly CsvCell[])[], usual: number): number {
  const count = Math.max(
    rows.findIndex(([cell]) => !cell?.startsWith('#')),
    0,
  )
  if (count === 0 || rows[count - 1]?.length !== usual) return count
  const [next = [], ...others] = rows.slice(count, count + sampleRows)
  return count === 1 || !isHeading(next, others) ? count - 1 : count
}

/** The number that occurs most often; of two, the larger. */
export function mostFrequent(numbers: readonly number[]): number {
  const counts = new Map<number, number>()
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1)
  const [best] = [...counts].sort(([a, countA], [b, countB]) => countB - countA || b - a)
  return best?.[0] ?? 0
}
