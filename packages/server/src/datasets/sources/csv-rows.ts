import { parse } from 'csv-parse/sync'
import { ApiError } from '../../errors.ts'
import type { SourceRow } from './json-rows.ts'

type Field = string | null

const numberText = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i

/** CSV with a header row. A column is of numbers or booleans when all of it is: `007` stays text, and so do its likes. */
export function csvRows(body: Buffer): SourceRow[] {
  const [names = [], ...records] = parseRecords(body)
  const casts = names.map((_, index) => columnCast(records, index))
  return records.map((fields) =>
    // Not by assignment: a column may be called __proto__.
    Object.fromEntries(names.map((name, index) => [name ?? '', cast(fields[index] ?? null, casts[index])])),
  )
}

function parseRecords(body: Buffer): Field[][] {
  try {
    return parse(body, {
      bom: true,
      skip_empty_lines: true,
      // As our own CSV has it: nothing is null, a quoted nothing is an empty text.
      cast: (text, { quoting }) => (text === '' && !quoting ? null : text),
    }) as unknown as Field[][]
  } catch (error) {
    throw new ApiError('upstream_failed', 'The answer of the source is not valid CSV.', { cause: error })
  }
}

type Cast = (text: string) => unknown

function cast(field: Field, how: Cast | undefined): unknown {
  return field === null || !how ? field : how(field)
}

function columnCast(records: readonly Field[][], index: number): Cast | undefined {
  const isAll = (test: (text: string) => boolean) =>
    records.every((fields) => {
      const field = fields[index] ?? null
      return field === null || test(field)
    })
  if (isAll((text) => text === 'true' || text === 'false')) return (text) => text === 'true'
  return isAll(isExactNumber) ? Number : undefined
}

function isExactNumber(text: string): boolean {
  if (!numberText.test(text) || !Number.isFinite(Number(text))) return false
  return /[.e]/i.test(text) || Number.isSafeInteger(Number(text))
}
