/** The draft of a new table, and the request that makes it with its dataset. */
import type { DatasetCreate } from '@graticule/client'
import { type ColumnDraft, columnFault, columnOf, emptyColumn } from '../../dataset/edit/column-draft.ts'

export interface PlacedColumn extends ColumnDraft {
  /** Identifies the column while others are added and removed. */
  place: number
}

export interface TableDraft {
  name: string
  /** The name of the table in the database; empty: made from `name`. */
  source: string
  description: string
  columns: readonly PlacedColumn[]
}

export const emptyTable: TableDraft = {
  name: '',
  source: '',
  description: '',
  columns: [
    { ...emptyColumn, place: 0, name: 'id', kind: 'integer', isKey: true },
    { ...emptyColumn, place: 1, name: 'geom', kind: 'geometry' },
  ],
}

/** The server's own limit. */
const longestSource = 50

/** "Trees of Helsinki" → `trees_of_helsinki` */
export function sourceOf({ name, source }: Pick<TableDraft, 'name' | 'source'>): string {
  if (source.trim() !== '') return source.trim()
  const words = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '_')
  const plain = words.replaceAll(/^_+|_+$/g, '').slice(0, longestSource - 2)
  return /^(\p{L}|$)/u.test(plain) && !plain.startsWith('svc_') ? plain : `t_${plain}`
}

/** A new column comes before the geometry, which is usually the last. */
export function withColumn(columns: readonly PlacedColumn[]): PlacedColumn[] {
  const place = Math.max(-1, ...columns.map((one) => one.place)) + 1
  const before = columns.at(-1)?.kind === 'geometry' ? columns.length - 1 : columns.length
  return columns.toSpliced(before, 0, { ...emptyColumn, place })
}

/** Why the table cannot be made yet. */
export function missingOf({ name, columns }: TableDraft): string | undefined {
  if (name.trim() === '') return 'Give the table a name.'
  if (columns.some((column) => column.name.trim() === '')) return 'Give each column a name.'
  return columns.map(columnFault).find(Boolean)
}

/** `databaseId`: the application's own database, if it is known. */
export function tableOf(draft: TableDraft, databaseId: string | undefined): DatasetCreate {
  return {
    type: 'table',
    name: draft.name.trim(),
    source: sourceOf(draft),
    ...(draft.description.trim() && { description: draft.description.trim() }),
    ...(databaseId && { databaseId }),
    columns: draft.columns.map(columnOf),
  }
}
