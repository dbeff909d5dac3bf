/** The draft of a row, by the names of its columns, and what of it is sent. */
import { isNumeric } from '@graticule/map/recipe'
import type { ErrorText } from '../../../components/error-note.tsx'
import type { DatasetAttribute } from '../dataset.ts'
import { type CellDraft, cellDraft, isSameCell, leftOut, readCell } from './cell-draft.ts'

export type RowDraft = Readonly<Record<string, CellDraft>>
type Attributes = readonly DatasetAttribute[]
export type EditedRow = Readonly<Record<string, unknown>>

/** Null: a new row, whose cells are left to the database until something is typed. */
export const rowDraft = (attributes: Attributes, row: EditedRow | null): RowDraft =>
  Object.fromEntries(attributes.map((one) => [one.name, row ? cellDraft(one, row[one.name]) : leftOut]))

const positionNames = [/^(lon|lng|long|longitude)$/i, /^(lat|latitude)$/i]

/** A draft with one cell changed. Columns of longitude and latitude that said where the point was say where it is now. */
export function withCell(attributes: Attributes, draft: RowDraft, name: string, cell: CellDraft): RowDraft {
  const changed = { ...draft, [name]: cell }
  const points = attributes.filter(({ type, geometryType }) => type === 'geometry' && geometryType === 'Point')
  const columns = positionNames.map((pattern) =>
    attributes.find((one) => isNumeric(one.type) && pattern.test(one.name)),
  )
  if (points.length !== 1 || points[0]?.name !== name || !cell.point) return changed
  const followed = columns.map((column, axis) => follows(column && draft[column.name], draft[name]?.point?.[axis]))
  if (followed.includes(false)) return changed
  const texts = columns.map((column, axis) => [column?.name, { mode: 'value', text: cell.point?.[axis] ?? '' }])
  return { ...changed, ...Object.fromEntries(texts) }
}

/** A column that is empty, or has the number of the point, whatever its decimals. */
function follows(column: CellDraft | undefined, before: string | undefined): boolean {
  if (!column) return false
  return column.mode !== 'value' || column.text === '' || Math.abs(Number(column.text) - Number(before)) < 1e-4
}

/** The columns in which two drafts differ. */
export const changedColumns = (attributes: Attributes, before: RowDraft, after: RowDraft): DatasetAttribute[] =>
  attributes.filter(({ name }) => !isSameCell(before[name], after[name]))

export interface ReadDraft {
  values: Record<string, unknown>
  /** By column. */
  errors: Record<string, string>
}

/** The values of these columns. */
export function readDraft(columns: Attributes, draft: RowDraft): ReadDraft {
  const read: ReadDraft = { values: {}, errors: {} }
  for (const attribute of columns) {
    const cell = readCell(attribute, draft[attribute.name] ?? leftOut)
    if ('error' in cell) read.errors[attribute.name] = cell.error
    if ('value' in cell) read.values[attribute.name] = cell.value
  }
  return read
}

/** The server shortens names in paths. */
const pathName = (name: string): string => name.slice(0, 100)

/** The server's faults, by column; the rest concerns the row as a whole. */
export function faultsByColumn(attributes: Attributes, { fields }: Pick<ErrorText, 'fields'>) {
  const byColumn: Record<string, string> = {}
  const others = fields.filter(({ path, message }) => {
    const column = columnOf(attributes, path)
    if (column === undefined) return true
    byColumn[column] ??= `${upperFirst(message)}.`
    return false
  })
  return { byColumn, hasOthers: others.length > 0 || fields.length === 0 }
}

function columnOf(attributes: Attributes, path: string): string | undefined {
  const isAt = ({ name }: DatasetAttribute) => `${path}/`.startsWith(`body/${pathName(name)}/`)
  return attributes.filter(isAt).toSorted((a, b) => b.name.length - a.name.length)[0]?.name
}

const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1).replace(/\.$/, '')
