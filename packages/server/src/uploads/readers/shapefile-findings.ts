import { createDbfFindings, type Dbf, type DbfFindings, dbfFieldType } from './dbf.ts'
import { createTextFindings, type DbfText, type TextFindings } from './dbf-text.ts'
import { noteValue } from './dbf-values.ts'
import { createGeometrySummary, type GeometrySummary } from './flat-geometry.ts'
import type { ScannedField } from './reader.ts'
import type { ShapefileRecords } from './shapefile-records.ts'

/** What is known of the records read so far. */
export type ShapefileFindings = {
  readonly columns: DbfFindings[]
  readonly summary: GeometrySummary
  readonly text: TextFindings
  /** A value was looked at closely, which may have changed what is known of its column. */
  isNews: boolean
  missingRows: number
  featureCount: number
}

/** What was learned of the table before need not be learned again. */
export function createFindings(dbf: Dbf | undefined, before?: ShapefileFindings): ShapefileFindings {
  const summary = createGeometrySummary()
  for (const type of before?.summary.types ?? []) summary.types.add(type)
  summary.hasZ = before?.summary.hasZ ?? false
  const columns = (dbf?.fields ?? []).map((_, index) => ({
    ...(before?.columns[index] ?? createDbfFindings()),
    isNull: false,
  }))
  return { columns, summary, text: createTextFindings(), isNews: false, missingRows: 0, featureCount: 0 }
}

/** Takes the row of the record into account. */
export function noteRow(records: ShapefileRecords, found: ShapefileFindings): void {
  if (!records.dbf || records.rowAt < 0) found.missingRows++
  else for (let index = 0; index < found.columns.length; index++) noteField(records, index, found)
}

/** The same of one field of it. */
export function noteField({ dbf, rowAt }: ShapefileRecords, index: number, found: ShapefileFindings): void {
  const [field, findings] = [dbf?.fields[index], found.columns[index]]
  if (!dbf || !field || !findings || rowAt < 0) return
  found.isNews = true
  noteValue(dbf, field, rowAt, findings, found.text)
}

export function fieldsOf(
  dbf: Dbf | undefined,
  { columns, missingRows }: ShapefileFindings,
  text: DbfText,
): ScannedField[] {
  return (dbf?.fields ?? []).map((field, index) => {
    const findings = columns[index] ?? createDbfFindings()
    const nullable = missingRows > 0 || findings.isNull || !'CN'.includes(field.letter)
    return { name: text.decode(field.rawName), type: dbfFieldType(field, findings), nullable }
  })
}

/** Tells whether rows for what was known before are right for what is known now. Asked of every record. */
export function stillnessOf(before: ShapefileFindings, now: ShapefileFindings, dbf: Dbf | undefined): () => boolean {
  // Of the columns only those of numbers can turn out to be something else.
  const columns = (dbf?.fields ?? []).flatMap((field, index) => {
    const [then, since] = [before.columns[index], now.columns[index]]
    return then && since && field.letter === 'N' ? [{ field, since, type: dbfFieldType(field, then) }] : []
  })
  const { size } = before.summary.types
  return () => {
    if (size !== now.summary.types.size || before.summary.hasZ !== now.summary.hasZ) return false
    if (!now.isNews) return true
    now.isNews = false
    for (const { field, since, type } of columns) if (dbfFieldType(field, since) !== type) return false
    return true
  }
}
