/** What the client says of a table, whatever it looks like: the upload fields `geometry`, `types`, `dateOrder`, `decimal` and `nulls`. */
import { didYouMean, shortList } from '../../../../kernel/nearest-name.ts'
import type { LocalRules } from '../engine/local-columns.ts'
import { ReadFault } from '../reader.ts'
import { foldHeading } from './coordinate-headings.ts'

/** Types that the client may give to columns, by the names that attributes of datasets have. */
export const columnTypes = [
  'string',
  'integer',
  'number',
  'boolean',
  'date',
  'datetime',
  'time',
  'uuid',
  'json',
] as const

export type ColumnType = (typeof columnTypes)[number]

export type TableRules = LocalRules & {
  /** `none`, a column, a pair of columns, or the four sides of a box. */
  readonly geometry?: string | undefined
  readonly types?: Readonly<Record<string, ColumnType>> | undefined
  /** Cells that hold nothing. */
  readonly nulls?: readonly string[] | undefined
}

const ofTables = ['geometry', 'types', 'dateOrder', 'decimal', 'nulls'] as const

/** A field of the upload does not fit the file; answered as 400 where it is known before the file is stored. */
export const fieldFault = (field: keyof TableRules, message: string): ReadFault =>
  new ReadFault('field_mismatch', message, { field })

/** Names the columns that there are, and the one that was probably meant. */
export const unknownColumn = (field: keyof TableRules, name: string, names: readonly string[]): ReadFault =>
  fieldFault(
    field,
    `There is no column ${JSON.stringify(name.slice(0, 100))}.${didYouMean(name, names)} The file has ${shortList(names.map((one) => JSON.stringify(one)))}.`,
  )

/** The rules among other options, without those that are not given. */
export const tableRulesOf = (options: TableRules): TableRules =>
  Object.fromEntries(ofTables.flatMap((field) => (options[field] === undefined ? [] : [[field, options[field]]])))

const dateWords =
  /^(date|dates|datum|dato|data|fecha|day|tag|giorno|jour|dia|paiva|paivamaara|ymd|yyyymmdd|дата|日付|日期|年月日)$/

/** Whether a column is called a date, so that eight digits are one. */
export const isDateHeading = (name: string): boolean =>
  foldHeading(name)
    .split(' ')
    .some((part) => dateWords.test(part) || part.endsWith('datum') || part.endsWith('date'))

/** Formats that say what their columns are take no word against it, but their geometry may be left out. */
export function refuseTableRules(rules: TableRules, format: string): void {
  const given = ofTables.find(
    (field) => rules[field] !== undefined && !(field === 'geometry' && rules[field] === 'none'),
  )
  if (given === undefined) return
  throw fieldFault(
    given,
    `This field is for tables (CSV, XLSX and lists of JSON objects), but the file is ${format}, which says itself what it holds. Leave the field out.`,
  )
}
