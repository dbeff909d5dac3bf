import type { NotedColumn } from '../../../../query/formats/table-note.ts'
import type { GeometryWriter } from '../../../../query/geometry/encoding/ewkb-writer.ts'
import { type LooseGeometry, writeGeometry } from '../../../../query/geometry/encoding/geojson-ewkb.ts'
import { writeValue } from './copy-binary.ts'
import { featureIdKey, featureIdName } from './feature-ids.ts'
import type { RowFault } from './impossible-rows.ts'
import { columnOf, hasDecimalCommas, type LocalColumn } from './local-columns.ts'
import { kindsOfNoted, notedField, writeNoted } from './noted-values.ts'
import type { LayerFacts, Reading, RecordField, RecordShape } from './reading.ts'
import { type FieldList, kind } from './type-inference.ts'

/** One record as values of JavaScript, by field; `geometry` is null where there is none, 'invalid' where it cannot be read. */
export type SourceRecord = {
  values: readonly unknown[]
  geometry: LooseGeometry | 'invalid' | null
  /** Of a row of a table. One whose geometry cannot be read is not loaded. */
  line?: number
  /** The text that the geometry was read from. */
  written?: string
  /** Why it cannot be loaded. */
  fault?: RowFault
}

export type RecordBatch = { records: readonly SourceRecord[]; fraction: number }

/** A source of such records. */
export type RecordSource = {
  /** Complete once all is read, and the same in every reading. */
  fields: FieldList
  batches: AsyncIterator<RecordBatch>
  /** The kinds of a value of a field, as bits of `kind`. */
  kindsOf(value: unknown, field: number): number
  facts(): LayerFacts
  /** The type of a field by the kinds of its values; that of its name wins where the client gave one. */
  typeOf?(kinds: number, name: string, isAmongCommas: boolean): LocalColumn
  /** What one of our own exports says of a field. */
  noted?(place: number): NotedColumn | undefined
  /** The columns that coordinates are read from, where there are any. */
  coordinateNames?: { x: string; y: string }
}

/** Reads records that are values of JavaScript. */
export function readRecords(source: RecordSource): Reading {
  const { fields, batches } = source
  const kindsOf = (value: unknown, place: number): number => {
    const noted = source.noted?.(place)
    return noted ? kindsOfNoted(value, noted) : source.kindsOf(value, place)
  }
  const places: number[] = []
  let batch: RecordBatch = { records: [], fraction: 0 }
  let at = -1
  let record: SourceRecord = { values: [], geometry: null }
  return {
    places,
    next(writer) {
      const following = batch.records[++at]
      if (!following) return undefined
      record = following
      while (places.length < fields.names.length) places.push(places.length)
      return shapeOf(record, writer, source.coordinateNames?.x)
    },
    async fill() {
      const { value, done: isOver } = await batches.next()
      if (isOver) return false
      batch = value
      at = -1
      return true
    },
    kindsOf: (place, known) => kindsOfRecord(record.values[place], place, known, kindsOf),
    write(rows, place, type, local) {
      const noted = source.noted?.(place)
      if (noted) writeNoted(rows, type, record.values[place], noted)
      else writeValue(rows, type, record.values[place], local)
    },
    fields: (kinds) =>
      fieldsOf(fields.names, kinds, source.typeOf).map((field) => {
        const noted = source.noted?.(field.place)
        return noted ? notedField(noted, field.place, kinds[field.place] ?? 0) : field
      }),
    progress: () => batch.fraction,
    facts: source.facts,
    whereIs: (axis) => whereIs(record, source.coordinateNames?.[axis]),
    close: async () => void (await batches.return?.()),
  }
}

/** Writes the geometry of a record. */
export function shapeOf(record: SourceRecord, writer: GeometryWriter, column: string | undefined): RecordShape {
  const { geometry, fault, line } = record
  if (fault) return fault
  if (geometry === null) return 'missing'
  if (geometry !== 'invalid' && writeGeometry(writer, geometry)) return geometry.type as Exclude<RecordShape, RowFault>
  return line === undefined ? 'invalid' : { ...whereIs(record, column), problem: 'is not a geometry' }
}

/** Where the coordinates of a record are written. */
export function whereIs(
  { line, written }: Pick<SourceRecord, 'line' | 'written'>,
  column: string | undefined,
): Omit<RowFault, 'problem'> {
  return {
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
    ...(written !== undefined && { value: written }),
  }
}

export function kindsOfRecord(value: unknown, place: number, known: number, kindsOf: RecordSource['kindsOf']): number {
  if (value === null || value === undefined) return kind.none
  // Once text, always text: nothing more can be learned but objects, which come with no text in these formats.
  return known & kind.text && typeof value === 'string' ? kind.text : kindsOf(value, place)
}

/** Fields by their names, one at each place, of the narrowest type for their values. */
export function fieldsOf(
  names: readonly string[],
  kinds: ArrayLike<number>,
  typeOf: RecordSource['typeOf'] = (bits) => columnOf(bits),
): RecordField[] {
  const isAmongCommas = hasDecimalCommas(kinds, names.length)
  return names.map((name, place) => ({
    name: name === featureIdKey ? featureIdName(names) : name,
    place,
    ...typeOf(kinds[place] ?? 0, name, isAmongCommas),
  }))
}
