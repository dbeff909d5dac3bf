import { beginRow, createRowWriter, type RowWriter, takeChunk, writeInt8, writeNull } from './copy-binary.ts'
import { type TakenColumn, takenColumn, takeOddValue, takeValue } from './dbf-quick.ts'
import type { DbfText } from './dbf-text.ts'
import { createFlatGeometry, type FlatGeometry, summarise } from './flat-geometry.ts'
import { mended } from './flat-geometry-mend.ts'
import { type GeometryShape, writeGeometry } from './flat-geometry-write.ts'
import { type EncodedColumn, type PassOptions, ReadFault } from './reader.ts'
import { createFindings, noteField, noteRow, type ShapefileFindings, stillnessOf } from './shapefile-findings.ts'
import { readShape } from './shapefile-geometry.ts'
import { createPlainShape, findPlainShape, type PlainShape, writePlainShape } from './shapefile-plain.ts'
import { advance, type ShapefileRecords } from './shapefile-records.ts'

/** Looks at the records, all or so many. */
export async function lookAtRecords(
  records: ShapefileRecords,
  options: PassOptions,
  enough: number,
): Promise<ShapefileFindings> {
  const found = createFindings(records.dbf)
  const shapes = createShapes(undefined)
  const tell = progressTeller(records, options)
  for (let more = advance(records); typeof more === 'boolean' ? more : await more; more = advance(records)) {
    found.featureCount++
    shapeOf(records, shapes, found)
    noteRow(records, found)
    tell()
    if (found.featureCount >= enough) break
  }
  return found
}

/** The rows for what is known, as long as that is right; all that is found is answered. */
export async function* loadRecords(
  records: ShapefileRecords,
  columns: readonly EncodedColumn[],
  { found: before, text }: { readonly found: ShapefileFindings; readonly text: DbfText },
  options: PassOptions,
): AsyncGenerator<Buffer, { found: ShapefileFindings; isAsGuessed: boolean }> {
  const writer = createRowWriter()
  const found = createFindings(records.dbf, before)
  const row = rowForm(records, columns, found, text)
  const shapes = createShapes(columns.find((column) => column.kind === 'geometry'))
  const tell = progressTeller(records, options)
  const isStill = stillnessOf(before, found, records.dbf)
  let isAsGuessed = true
  for (let more = advance(records); typeof more === 'boolean' ? more : await more; more = advance(records)) {
    found.featureCount++
    const shape = shapeOf(records, shapes, found)
    tell()
    if (!isAsGuessed) {
      noteRow(records, found)
      continue
    }
    writeRow(writer, records, row, shape, found)
    isAsGuessed = isStill()
    if (!isAsGuessed) writer.length = writer.rowStart
    const chunk = takeChunk(writer)
    if (chunk) yield chunk
  }
  const rest = takeChunk(writer, true)
  if (rest) yield rest
  return { found, isAsGuessed }
}

/** Where the shape of a record is put: used again for the next. */
type Shapes = { readonly geometry: FlatGeometry; readonly plain: PlainShape | undefined }

/** A plain shape lacks the heights that a column may want. */
function createShapes(column: GeometryShape | undefined): Shapes {
  return { geometry: createFlatGeometry(), plain: column?.hasZ ? undefined : createPlainShape() }
}

/** The shape in memory, mended, taken into account; undefined when there is none that can be loaded. */
function shapeOf(
  { shp, shapeStart, shapeEnd, index }: ShapefileRecords,
  { geometry, plain }: Shapes,
  { summary }: ShapefileFindings,
): FlatGeometry | PlainShape | undefined {
  if (!shp) return undefined
  if (plain && findPlainShape(shp.view, shapeStart, shapeEnd, plain, summary)) return plain
  try {
    const sound = readShape(shp.view, shapeStart, shapeEnd, geometry) ? mended(geometry, summary) : undefined
    if (sound) summarise(summary, sound)
    return sound
  } catch (error) {
    if (error instanceof ReadFault) throw new ReadFault(error.code, error.message, { feature: index + 1 })
    throw error
  }
}

/** To be called for every record: tells the progress now and then, and stops when told to. */
function progressTeller(records: ShapefileRecords, { signal, onProgress }: PassOptions): () => void {
  let count = 0
  return () => {
    if ((++count & 4095) !== 0) return
    signal.throwIfAborted()
    const { shp, dbf } = records
    const done = shp ? records.nextOffset / records.shpEnd : records.index / (dbf?.presentCount || 1)
    onProgress?.(Math.min(done, 1))
  }
}

/** How a row is made: each column is a value of the table, the geometry, or the ordinal. */
type RowForm = {
  readonly columns: readonly RowColumn[]
  /** Fields that are looked at but not written. */
  readonly others: readonly number[]
  readonly text: DbfText
}

type RowColumn = {
  readonly kind: EncodedColumn['kind']
  readonly taken: TakenColumn | undefined
  readonly geometry: GeometryShape | undefined
}

function rowForm(
  { dbf }: ShapefileRecords,
  columns: readonly EncodedColumn[],
  found: ShapefileFindings,
  text: DbfText,
): RowForm {
  const others = new Set(dbf?.fields.keys())
  const forms = columns.map((column): RowColumn => {
    const { kind } = column
    if (kind !== 'field') return { kind, taken: undefined, geometry: kind === 'geometry' ? column : undefined }
    const [field, findings] = [dbf?.fields[column.field], found.columns[column.field]]
    others.delete(column.field)
    const taken = field && findings && takenColumn(field, column.type, findings)
    return { kind, taken, geometry: undefined }
  })
  return { columns: forms, others: [...others], text }
}

function writeRow(
  writer: RowWriter,
  records: ShapefileRecords,
  { columns, others, text }: RowForm,
  shape: FlatGeometry | PlainShape | undefined,
  found: ShapefileFindings,
): void {
  if (!records.dbf || records.rowAt < 0) found.missingRows++
  beginRow(writer, columns.length)
  for (const { kind, taken, geometry } of columns) {
    if (kind === 'fid') writeInt8(writer, found.featureCount)
    else if (taken) writeValue(writer, records, taken, text, found)
    else if (geometry && shape) writeShape(writer, records, shape, geometry)
    else writeNull(writer)
  }
  for (const index of others) noteField(records, index, found)
}

function writeValue(
  writer: RowWriter,
  { dbf, rowAt }: ShapefileRecords,
  column: TakenColumn,
  text: DbfText,
  found: ShapefileFindings,
): void {
  if (!dbf || rowAt < 0) writeNull(writer)
  else if (!takeValue(writer, dbf, column, rowAt)) {
    found.isNews = true
    takeOddValue(writer, dbf, column, rowAt, text, found.text)
  }
}

function writeShape(
  writer: RowWriter,
  { shp }: ShapefileRecords,
  shape: FlatGeometry | PlainShape,
  column: GeometryShape,
): void {
  if ('members' in shape) writeGeometry(writer, shape, column)
  else if (shp) writePlainShape(writer, shp, shape, column)
}
