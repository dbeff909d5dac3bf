/** The draft of a column, for a new table and for one that is there, and the column that the API is asked for. */
import type { DatasetsAddColumnBody } from '@graticule/client'
import type { ColumnType } from '../attribute.ts'
import { readCell } from './cell-draft.ts'

interface ColumnSize {
  label: string
  placeholder: string
  pattern: RegExp
  error: string
  dbType?(size: string): string
}

const textSize: ColumnSize = {
  label: 'Longest text',
  placeholder: 'any length',
  pattern: /^[1-9]\d{0,5}$/,
  error: 'Must be a number of characters such as 80, or empty.',
  dbType: (size) => `character varying(${size})`,
}

const decimalSize: ColumnSize = {
  label: 'Digits',
  placeholder: 'any digits',
  pattern: /^[1-9]\d{0,2}(\s*,\s*\d{1,3})?$/,
  error: 'Must be digits in all and behind the point such as 10,2, or empty.',
  dbType: (size) => `numeric(${size.replaceAll(/\s/g, '')})`,
}

const geometrySize: ColumnSize = {
  label: 'SRID',
  placeholder: '4326',
  pattern: /^[1-9]\d{0,5}$/,
  error: 'Must be the number of a reference system such as 4326 or 3067, or empty.',
}

interface ColumnKind {
  label: string
  type: ColumnType
  /** As attributes have it; sent only where `type` alone would be another. */
  dbType: string
  isNarrow?: true
  /** What limits its values, and the type in the words of the database with such a limit. */
  size?: ColumnSize
  /** Whether it can be the key. */
  isKeyKind?: true
}

export const columnKinds = {
  text: { label: 'Text', type: 'string', dbType: 'text', isKeyKind: true, size: textSize },
  integer: { label: 'Whole number', type: 'integer', dbType: 'bigint', isKeyKind: true },
  number: { label: 'Number', type: 'number', dbType: 'double precision', isKeyKind: true },
  decimal: {
    label: 'Exact decimal',
    type: 'number',
    dbType: 'numeric',
    isNarrow: true,
    isKeyKind: true,
    size: decimalSize,
  },
  boolean: { label: 'True or false', type: 'boolean', dbType: 'boolean', isKeyKind: true },
  date: { label: 'Date', type: 'date', dbType: 'date', isKeyKind: true },
  datetime: { label: 'Date and time', type: 'datetime', dbType: 'timestamp with time zone', isKeyKind: true },
  time: { label: 'Time', type: 'time', dbType: 'time without time zone', isKeyKind: true },
  uuid: { label: 'UUID', type: 'uuid', dbType: 'uuid', isKeyKind: true },
  json: { label: 'JSON', type: 'json', dbType: 'jsonb' },
  texts: { label: 'List of texts', type: 'array', dbType: 'text[]' },
  integers: { label: 'List of whole numbers', type: 'array', dbType: 'bigint[]', isNarrow: true },
  bytes: { label: 'Bytes', type: 'binary', dbType: 'bytea' },
  geometry: { label: 'Geometry', type: 'geometry', dbType: 'geometry', size: geometrySize },
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
  /** Length of a text, digits of a decimal, reference system of a geometry; empty: any, or the usual one. */
  size: string
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
  size: '',
  isRequired: false,
  isKey: false,
  preset: '',
  description: '',
}

/** Of a key the database counts up whole numbers and makes UUIDs; a geometry has no default. */
export const takesDefault = ({ kind, isKey }: ColumnDraft): boolean => kind !== 'geometry' && !isKey

/** What is wrong with the size. */
export function sizeFault({ kind, size }: Pick<ColumnDraft, 'kind' | 'size'>): string | undefined {
  const limit = kindOf(kind).size
  return limit && size.trim() !== '' && !limit.pattern.test(size.trim()) ? limit.error : undefined
}

/** The type in the words of the database. */
export function dbTypeOf({ kind, size }: Pick<ColumnDraft, 'kind' | 'size'>): string {
  const { dbType, size: limit } = kindOf(kind)
  return (size.trim() !== '' && limit?.dbType?.(size.trim())) || dbType
}

/** What is wrong with the size or the default. */
export const columnFault = (draft: ColumnDraft): string | undefined => sizeFault(draft) ?? presetFault(draft)

/** What is wrong with the default. */
export function presetFault(draft: ColumnDraft): string | undefined {
  if (!takesDefault(draft) || draft.preset === '') return undefined
  const read = readCell(kindOf(draft.kind), { mode: 'value', text: draft.preset })
  return 'error' in read ? read.error : undefined
}

export function columnOf(draft: ColumnDraft): DatasetsAddColumnBody {
  const { type, dbType: plainType, isNarrow } = kindOf(draft.kind)
  const dbType = dbTypeOf(draft)
  const preset = readCell({ type, dbType }, { mode: 'value', text: draft.preset })
  const hasDefault = takesDefault(draft) && draft.preset !== '' && 'value' in preset
  return {
    name: draft.name.trim(),
    type,
    ...((isNarrow || dbType !== plainType) && { dbType }),
    ...(type === 'geometry' && { geometryType: draft.geometryType }),
    ...(type === 'geometry' && draft.size.trim() !== '' && { srid: Number(draft.size) }),
    ...(draft.isKey ? { primaryKey: true } : draft.isRequired && { nullable: false }),
    ...(hasDefault && { default: preset.value }),
    ...(draft.description.trim() && { description: draft.description.trim() }),
  }
}
