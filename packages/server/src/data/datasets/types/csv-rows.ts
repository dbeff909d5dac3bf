// CSV parsing for web services.
import { parse } from 'csv-parse/sync'
import { ApiError } from '../../../kernel/errors.ts'
import type { SourceRow } from './json-rows.ts'

type Field = string | null

/** Five million columns, as many as an answer has room for, take ten seconds. */
const maxColumns = 10_000

const numberText = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i

/**
 * Parses CSV with a header row. A column becomes number or boolean only if all its values are: `007` and the like stay
 * text.
 */
export function csvRows(body: Buffer): SourceRow[] {
  const [names = [], ...records] = parseRecords(body)
  const casts = names.map((_, index) => columnCast(records, index))
  return records.map((fields) =>
    // Not by assignment, because a column may be called __proto__.
    Object.fromEntries(names.map((name, index) => [name ?? '', cast(fields[index] ?? null, casts[index])])),
  )
}

function parseRecords(body: Buffer): Field[][] {
  try {
    return parse(body, {
      bom: true,
      skip_empty_lines: true,
      // As in our own CSV: an empty field is null, a quoted empty field is an empty text.
      cast(text, { quoting, index }) {
        if (index >= maxColumns) throw tooManyColumns()
        return text === '' && !quoting ? null : text
      },
    }) as unknown as Field[][]
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw new ApiError('upstream_failed', 'The answer of the source is not valid CSV.', { cause: error })
  }
}

const tooManyColumns = () =>
  new ApiError('upstream_failed', `The answer of the source has more than ${maxColumns} columns, the limit.`)

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
