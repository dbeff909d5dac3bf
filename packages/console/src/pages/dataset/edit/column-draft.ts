/** The draft of a column, for a new table and for one that is there, and the column that the API is asked for. */
import type { DatasetsAddColumnBody } from '@graticule/client'
import type { ColumnType } from '../attribute.ts'
import { readCell } from './cell-draft.ts'

interface ColumnKind {
  label: string
  type: ColumnType
  /** As attributes have it; sent only where `type` alone would be another. */
  dbType: string
  isNarrow?: true
  /** Whether it can be the key. */
  isKeyKind?: true
}

export const columnKinds = {
  text: { label: 'Text', type: 'string', dbType: 'text', isKeyKind: true },
  integer: { label: 'Whole number', type: 'integer', dbType: 'bigint', isKeyKind: true },
  number: { label: 'Number', type: 'number', dbType: 'double precision', isKeyKind: true },
  decimal: { label: 'Exact decimal', type: 'number', dbType: 'numeric', isNarrow: true, isKeyKind: true },
  boolean: { label: 'True or false', type: 'boolean', dbType: 'boolean', isKeyKind: true },
  date: { label: 'Date', type: 'date', dbType: 'date', isKeyKind: true },
  datetime: { label: 'Date and time', type: 'datetime', dbType: 'timestamp with time zone', isKeyKind: true },
  time: { label: 'Time', type: 'time', dbType: 'time without time zone', isKeyKind: true },
  uuid: { label: 'UUID', type: 'uuid', dbType: 'uuid', isKeyKind: true },
  json: { label: 'JSON', type: 'json', dbType: 'jsonb' },
  texts: { label: 'List of texts', type: 'array', dbType: 'text[]' },
  integers: { label: 'List of whole numbers', type: 'array', dbType: 'bigint[]', isNarrow: true },
  bytes: { label: 'Bytes', type: 'binary', dbType: 'bytea' },
  geometry: { label: 'Geometry', type: 'geometry', dbType: 'geometry' },
} satisfies Record<string, ColumnKind>

export type ColumnKindName = keyof typeof columnKinds
export const kindOf = (name: ColumnKindName): ColumnKind => columnKinds[name]
export const columnKindNames = Object.keys(columnKinds) as ColumnKindName[]

export const geometryTypes = [
  ...(['Point', 'LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon'] as const),
  ...(['GeometryCollection', 'Geometry'] as const),
]
export type GeometryType = (typeof geometryTypes)[number]

export interface ColumnDraft {
  name: string
  kind: ColumnKindName
  geometryType: GeometryType
  isRequired: boolean
  isKey: boolean
  /** The default, as text; empty: none. */
  preset: string
  description: string
}

export const emptyColumn: ColumnDraft = {
  name: '',
  kind: 'text',
  geometryType: 'Point',
  isRequired: false,
  isKey: false,
  preset: '',
  description: '',
}

/** Of a key the database counts up whole numbers and makes UUIDs; a geometry has no default. */
export const takesDefault = ({ kind, isKey }: ColumnDraft): boolean => kind !== 'geometry' && !isKey

/** What is wrong with the default. */
export function presetFault(draft: ColumnDraft): string | undefined {
  if (!takesDefault(draft) || draft.preset === '') return undefined
  const read = readCell(kindOf(draft.kind), { mode: 'value', text: draft.preset })
  return 'error' in read ? read.error : undefined
}

export function columnOf(draft: ColumnDraft): DatasetsAddColumnBody {
  const { type, dbType, isNarrow } = kindOf(draft.kind)
  const preset = readCell({ type, dbType }, { mode: 'value', text: draft.preset })
  const hasDefault = takesDefault(draft) && draft.preset !== '' && 'value' in preset
  return {
    name: draft.name.trim(),
    type,
    ...(isNarrow && { dbType }),
    ...(type === 'geometry' && { geometryType: draft.geometryType }),
    ...(draft.isKey ? { primaryKey: true } : draft.isRequired && { nullable: false }),
    ...(hasDefault && { default: preset.value }),
    ...(draft.description.trim() && { description: draft.description.trim() }),
  }
}
