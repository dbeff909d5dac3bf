import { createDbfFindings, type Dbf, type DbfFindings, type DbfText, dbfFieldType } from './dbf.ts'
import { noteValue } from './dbf-values.ts'
import { createGeometrySummary, type GeometrySummary } from './flat-geometry.ts'
import type { ScannedField } from './reader.ts'
import type { ShapefileRecords } from './shapefile-records.ts'

/** What is known of the records read so far. */
export type ShapefileFindings = {
  readonly columns: DbfFindings[]
  readonly summary: GeometrySummary
  isAllUtf8: boolean
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
  return { columns, summary, isAllUtf8: true, missingRows: 0, featureCount: 0 }
}

/** Takes the row of the record into account. */
export function noteRow({ dbf, rowAt }: ShapefileRecords, found: ShapefileFindings): void {
  if (!dbf || rowAt < 0) {
    found.missingRows++
    return
  }
  for (let index = 0; index < dbf.fields.length; index++) {
    const field = dbf.fields[index]
    const findings = found.columns[index]
    if (field && findings && !noteValue(dbf, field, rowAt, findings)) found.isAllUtf8 = false
  }
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
    for (const { field, since, type } of columns) if (dbfFieldType(field, since) !== type) return false
    return true
  }
}
