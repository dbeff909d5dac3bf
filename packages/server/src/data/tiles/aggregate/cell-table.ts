// A table of cells with what is known of the rows in each, in memory that threads share.
import type { CellScheme, CellValue } from '../../../query/plan/cell-aggregate.ts'

/** Numbers of each cell: the two halves of its key, how many rows, one of their places, the sums of their places, and of each attribute five. */
export const cellFields = { high: 0, low: 1, count: 2, x: 3, y: 4, sumX: 5, sumY: 6, values: 7 } as const
/** A sum is two numbers, the second what rounding took from the first, so that it does not depend on the order of the rows. */
export const valueFields = { sum: 0, rest: 1, count: 2, min: 3, max: 4, size: 5 } as const

/** Places are fractions of the web mercator world, from its north-west corner. */
export type CellTable = {
  readonly scheme: CellScheme
  readonly attributes: number
  readonly cells: Float64Array
  readonly count: number
  /** Rows that were read, and those of them that are in no cell because they have no place. */
  readonly rows: number
  readonly unplaced: number
}

export const strideOf = (attributes: number): number => cellFields.values + attributes * valueFields.size

/** The attribute's figure of a cell; null where all its values are. */
export function cellValue({ cells, attributes }: CellTable, index: number, value: CellValue): number | null {
  const at = index * strideOf(attributes) + cellFields.values + value.of * valueFields.size
  const count = cells[at + valueFields.count] as number
  if (count === 0) return null
  if (value.function === 'min') return cells[at + valueFields.min] as number
  if (value.function === 'max') return cells[at + valueFields.max] as number
  const sum = (cells[at + valueFields.sum] as number) + (cells[at + valueFields.rest] as number)
  return stable(value.function === 'avg' ? sum / count : sum)
}

const digits = 15

/** Fifteen digits do not depend on the order in which rows were added; whole numbers are exact. */
const stable = (value: number): number => (Number.isInteger(value) ? value : Number(value.toPrecision(digits)))
