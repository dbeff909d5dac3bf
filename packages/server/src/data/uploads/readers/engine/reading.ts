import type { TableNote } from '../../../../query/formats/table-note.ts'
import type { GeometryWriter } from '../../../../query/geometry/encoding/ewkb-writer.ts'
import type { GeometryType } from '../../../../query/geometry/geometry-type.ts'
import type { FieldType, Warning } from '../reader.ts'
import type { RowWriter } from './copy-binary.ts'
import type { RowFault } from './impossible-rows.ts'
import type { LocalColumn, LocalFormat } from './local-columns.ts'
import type { DecimalDigits } from './numeric-binary.ts'

/**
 * What a format gives: one reading of one layer, record after record. The engine does the rest: it scans, guesses, loads and
 * encodes, tells the progress, and says what was found.
 */
export type Reading = {
  /** Where values of a record can be, as numbers up to `maxFields`; grows as fields are found. */
  readonly places: readonly number[]
  /** Takes the next record, its geometry into the writer, and answers its shape; undefined when none is left in memory. */
  next(geometry: GeometryWriter): RecordShape | undefined
  /** Brings more records into memory; false at the end. */
  fill(): Promise<boolean>
  /** Throws a fault where the file turns out to be damaged as a whole, be it behind what was read. */
  verify?(): Promise<void>
  /** The kinds of a value of the record, as bits of `kind`; 0 for null. What is known of the place may make it cheaper. */
  kindsOf(place: number, seen: number): number
  /** Writes a value of the record as a field of this type. */
  write(rows: RowWriter, place: number, type: FieldType, local?: LocalFormat): void
  /** The fields, by the kinds of values that were found at each place. */
  fields(kinds: ArrayLike<number>): readonly RecordField[]
  /** From 0 to 1. */
  progress(): number
  facts(): LayerFacts
  /** Where a coordinate of the record at hand is written, for messages. */
  whereIs?(axis: 'x' | 'y'): Omit<RowFault, 'problem'>
  close?(): Promise<void>
}

export type RecordField = LocalColumn & {
  readonly name: string
  readonly place: number
  readonly digits?: DecimalDigits | undefined
}

/** The type of a geometry, `invalid` for one that cannot be loaded, or what is wrong with a record that is not loaded. */
export type RecordShape = GeometryType | 'missing' | 'invalid' | RowFault

/** What a file says of a layer beside its records. It is all known when these have been read. */
export type LayerFacts = {
  readonly srid?: number | undefined
  readonly wkt?: string | undefined
  readonly warnings: readonly Warning[]
  /** What to give as `sourceSrid`, where the file does not say it and its coordinates are no degrees. */
  readonly sridHint?: string | undefined
  /** Of a table: the columns that the geometry is read from. */
  readonly geometryColumns?: readonly string[] | undefined
  /** It is of geometries, even if it holds none. */
  readonly isSpatial?: boolean
  /** What one of our own exports says of its table. */
  readonly note?: TableNote | undefined
  /** Heights are left out. */
  readonly isFlat?: boolean
  /** Of the text: rows that were written for another one are wrong. */
  readonly encoding?: string
}

/** What a reading is opened with: `before` is what an earlier one of the same layer found. */
export type ReadingOptions = { readonly signal: AbortSignal; readonly before?: LayerFacts | undefined }
