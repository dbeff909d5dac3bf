// What a thread is asked to write, and the interface of its writers.
import type { AttributeType } from '../../values/attribute.ts'
import type { ExportFormat } from '../answer-formats.ts'
import type { Cell, OutputColumn } from '../cell.ts'
import type { StoredType } from '../table-note.ts'

/** A column, with what its database says of the values beyond their type. */
export type ExportColumn = OutputColumn & {
  /** The type that an upload of the file should give to the column; absent for the geometry of a feature. */
  readonly stored?: StoredType
  /** It is the only column of the key, so that every row has a value of its own. */
  readonly isKey?: boolean
  /** Of a number: a decimal with so many digits, of which `scale` are fractional. */
  readonly decimal?: { readonly precision: number; readonly scale: number }
  /** A datetime has no zone. */
  readonly withoutZone?: boolean
  /** A time has a zone. */
  readonly withZone?: boolean
  /** Of a geometry: its type as the database names it, if all values are of it, such as `MultiPolygon`. */
  readonly geometryType?: string
  /** Of a geometry: whether all values have heights, or none has; absent where the database does not say. */
  readonly hasZ?: boolean
  /** Likewise of measures. */
  readonly hasM?: boolean
}

/** Plain data, so that it can be posted to a thread. */
export type ExportOrder = {
  readonly format: ExportFormat
  /** The name of the layer, table or sheet. */
  readonly name: string
  readonly columns: readonly ExportColumn[]
  /** The reference system of geometries, and its definition as WKT where it is known. */
  readonly srid: number
  readonly wkt?: string | undefined
  /** The file to make; absent where the bytes are sent while they are written. */
  readonly path?: string
  /** The most bytes of that file, and of others that it is made of. */
  readonly maxBytes: number
}

/** Rows in the order of the columns; geometries are hexadecimal WKB. */
export type ExportRows = AsyncIterable<readonly (readonly Cell[])[]>

/** Yields the bytes of the file. A writer that makes the file at `path` by itself yields nothing. */
export type ExportWriter = (rows: ExportRows, order: ExportOrder) => AsyncIterable<Uint8Array>

/** The geometry that a feature has; others are written as attributes. */
export const geometryIndexOf = (columns: readonly { readonly type: AttributeType }[]): number =>
  columns.findIndex(({ type }) => type === 'geometry')

/** A name that no column has yet, whatever its case. */
export function freeName(wanted: string, taken: Iterable<string>): string {
  const names = new Set([...taken].map((name) => name.toLowerCase()))
  let name = wanted
  for (let number = 2; names.has(name.toLowerCase()); number++) name = `${wanted}_${number}`
  return name
}

/** The directory of what the file at this path is made of. */
export const partsOf = (path: string): string => `${path}.parts`
