/** Columns of our own Shapefiles, whose note says their names beyond ten bytes and types that a .dbf file has not. */
import { readFile } from 'node:fs/promises'
import { maxNoteLength, type NotedColumn, parseNote, type TableNote } from '../../../../query/formats/table-note.ts'
import { kindsOfNoted, notedField, writeNoted } from '../engine/noted-values.ts'
import type { RecordField } from '../engine/reading.ts'
import { type DbfField, dbfFieldType } from './dbf.ts'
import type { DbfRow } from './dbf-values.ts'
import type { ShapefileParts, ShapefileRecords } from './records.ts'

export async function readNote({ note }: ShapefileParts): Promise<TableNote | undefined> {
  const text = note === undefined ? undefined : await readFile(note, 'utf8')
  return text === undefined || text.length > maxNoteLength ? undefined : parseNote(text)
}

/** What the note says of the fields, in their order; by the names that they have in the file. */
export function notedFields(note: TableNote | undefined, fields: readonly DbfField[]): (NotedColumn | undefined)[] {
  const byField = new Map(note?.columns.map((column) => [column.field ?? column.name, column]))
  return fields.map(({ rawName }) => byField.get(rawName.toString('utf8')))
}

/** Values that a .dbf file has as text, or as decimals of which a double would be another. */
const isWritten = ({ letter }: DbfField, { type }: NotedColumn): boolean =>
  letter === 'C' ? type !== 'text' : letter === 'N' && type === 'numeric'

/** The same row, with values of the noted types in place of their texts. */
export function withNotes(
  row: DbfRow,
  records: ShapefileRecords,
  columns: readonly (NotedColumn | undefined)[],
): DbfRow {
  const fields = records.dbf?.fields ?? []
  const written = columns.map((column, place) => {
    const field = fields[place]
    return column && field && isWritten(field, column) ? { column, field } : undefined
  })
  const textOf = ({ offset, width }: DbfField): string | null => {
    const { dbf, rowAt } = records
    if (!dbf || rowAt < 0) return null
    const start = rowAt + offset
    return dbf.window.bytes.toString('utf8', start, start + width).trim() || null
  }
  return {
    places: [
      ...new Set([...row.places, ...fields.keys()].filter((place) => row.places.includes(place) || written[place])),
    ],
    kindsOf(place, seen) {
      const { column, field } = written[place] ?? {}
      if (!column || !field) return row.kindsOf(place, seen)
      return kindsOfNoted(textOf(field), column)
    },
    write(rows, place, type, local) {
      const { column, field } = written[place] ?? {}
      if (column && field) writeNoted(rows, type, textOf(field), column)
      else row.write(rows, place, type, local)
    },
  }
}

/** The field of a noted column: integers may have become wider since. */
export function fieldOf(column: NotedColumn, field: DbfField, place: number, kinds: number): RecordField {
  if (isWritten(field, column)) return notedField(column, place, kinds)
  const type = dbfFieldType(field, kinds)
  return { name: column.name, place, type: type === 'integer' && column.type === 'bigint' ? 'bigint' : type }
}
