/** Upload fields that do not fit a file, and headings of dates. */
import { didYouMean, shortList } from '../../../../kernel/nearest-name.ts'
import { ReadFault } from '../reader.ts'
import { type TableRules, tableFields } from '../table-rules.ts'
import { foldHeading } from './coordinate-headings.ts'

/** A field of the upload does not fit the file; answered as 400 where it is known before the file is stored. */
export const fieldFault = (field: keyof TableRules, message: string): ReadFault =>
  new ReadFault('field_mismatch', message, { field })

/** Names the columns that there are, and the one that was probably meant. */
export const unknownColumn = (field: keyof TableRules, name: string, names: readonly string[]): ReadFault =>
  fieldFault(
    field,
    `There is no column ${JSON.stringify(name.slice(0, 100))}.${didYouMean(name, names)} The file has ${shortList(names.map((one) => JSON.stringify(one)))}.`,
  )

const dateWords =
  /^(date|dates|datum|dato|data|fecha|day|tag|giorno|jour|dia|paiva|paivamaara|ymd|yyyymmdd|дата|日付|日期|年月日)$/

/** Whether a column is called a date, so that eight digits are one. */
export const isDateHeading = (name: string): boolean =>
  foldHeading(name)
    .split(' ')
    .some((part) => dateWords.test(part) || part.endsWith('datum') || part.endsWith('date'))

/** Formats that say what their columns are take no word against it, but their geometry may be left out. */
export function refuseTableRules(rules: TableRules, format: string): void {
  const given = tableFields.find(
    (field) => rules[field] !== undefined && !(field === 'geometry' && rules[field] === 'none'),
  )
  if (given === undefined) return
  throw fieldFault(
    given,
    `This field is for tables (CSV, XLSX and lists of JSON objects), but the file is ${format}, which says itself what it holds. Leave the field out.`,
  )
}
