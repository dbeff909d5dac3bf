// The note of an export's columns, for uploads.
import type { NotedColumn, TableNote } from '../table-note.ts'
import { type ExportOrder, geometryIndexOf } from './export-order.ts'

export function tableNote({ columns, srid }: Pick<ExportOrder, 'columns' | 'srid'>): TableNote {
  const index = geometryIndexOf(columns)
  const { name, geometryType, hasZ } = columns[index] ?? {}
  const noted = columns
    .filter((_, at) => at !== index)
    .map((column): NotedColumn => ({ name: column.name, type: column.stored ?? 'text', ...column.decimal }))
  if (name === undefined) return { columns: noted }
  return { columns: noted, geometry: { name, type: `${geometryType ?? 'Geometry'}${hasZ ? 'Z' : ''}`, srid } }
}

export const noteText = (order: Pick<ExportOrder, 'columns' | 'srid'>): string => JSON.stringify(tableNote(order))
