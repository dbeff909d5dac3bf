/**
 * A note of the columns of a table, as JSON, that exports carry in formats whose own types say less: an upload of the file then
 * makes the same table. Whoever does not know it loses nothing.
 */

/** Types of the columns that uploads make. */
const storedTypes = [
  ...['boolean', 'integer', 'bigint', 'number', 'numeric', 'date', 'timestamp', 'timestamptz', 'time', 'json', 'text'],
  ...['binary', 'uuid'],
] as const

export type StoredType = (typeof storedTypes)[number]

export type NotedColumn = {
  readonly name: string
  readonly type: StoredType
  /** What the file calls it, where that is not its name. */
  readonly field?: string
  /** Of a decimal. */
  readonly precision?: number
  readonly scale?: number
}

export type TableNote = {
  readonly columns: readonly NotedColumn[]
  /** `type` as the database names it, such as `MultiPolygonZ`; `Geometry` where values of all types are let in. */
  readonly geometry?: { readonly name: string; readonly type: string; readonly srid: number }
}

/** The file of a zipped Shapefile that holds it. */
export const noteFile = 'fields.json'

/** By this name formats that name their metadata have it. */
export const noteName = 'graticule:columns'

/** Longer ones are not read. */
export const maxNoteLength = 1024 * 1024

/** The note in a text; undefined if it is none, because files come from anywhere. */
export function parseNote(text: string | undefined): TableNote | undefined {
  if (text === undefined || text.length > maxNoteLength) return undefined
  try {
    const { columns, geometry } = JSON.parse(text) as Partial<TableNote>
    if (!Array.isArray(columns) || !columns.every(isColumn)) return undefined
    if (new Set(columns.map(({ name }) => name)).size < columns.length) return undefined
    return isGeometry(geometry) ? { columns, geometry } : { columns }
  } catch {
    return undefined
  }
}

function isColumn(column: unknown): column is NotedColumn {
  if (typeof column !== 'object' || column === null) return false
  const { name, type, field, precision, scale } = column as Partial<NotedColumn>
  const isDecimal = precision !== undefined || scale !== undefined
  return (
    typeof name === 'string' &&
    (field === undefined || typeof field === 'string') &&
    (storedTypes as readonly unknown[]).includes(type) &&
    (!isDecimal || (isWithin(precision, 1, maxPrecision) && isWithin(scale, 0, precision)))
  )
}

const maxPrecision = 1_000

const isWithin = (value: unknown, least: number, most: number): value is number =>
  Number.isInteger(value) && Number(value) >= least && Number(value) <= most

function isGeometry(geometry: unknown): geometry is NonNullable<TableNote['geometry']> {
  if (typeof geometry !== 'object' || geometry === null) return false
  const { name, type, srid } = geometry as Partial<NonNullable<TableNote['geometry']>>
  return typeof name === 'string' && typeof type === 'string' && isWithin(srid, 1, 999_999)
}
