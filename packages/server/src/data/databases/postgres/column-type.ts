// What the names of PostgreSQL's types mean to queries.
import type { AttributeType, ColumnTraits, ColumnType } from '../../../query/values/attribute.ts'

const byName: Record<string, AttributeType> = {
  boolean: 'boolean',
  smallint: 'integer',
  integer: 'integer',
  bigint: 'integer',
  oid: 'integer',
  real: 'number',
  'double precision': 'number',
  numeric: 'number',
  date: 'date',
  'timestamp without time zone': 'datetime',
  'timestamp with time zone': 'datetime',
  'time without time zone': 'time',
  'time with time zone': 'time',
  uuid: 'uuid',
  json: 'json',
  jsonb: 'json',
  bytea: 'binary',
  geometry: 'geometry',
  geography: 'geometry',
}

/** `character varying(20)[]` → array. Unknown types become text, because PostgreSQL can print any value as text. */
export function typeOfColumn(dbType: string): AttributeType {
  if (dbType.endsWith('[]')) return 'array'
  const bare = dbType.replace(/\([^)]*\)/, '').replace(/^public\./, '')
  return Object.hasOwn(byName, bare) ? (byName[bare] ?? 'string') : 'string'
}

export function columnTraits(column: ColumnType): ColumnTraits {
  const { type, dbType } = column
  if (type === 'geometry') return geometryTraits(column)
  if (type === 'array') return { itemType: typeOfColumn(dbType.replace(/\[\]$/, '')) }
  if (/^timestamp(\(\d\))? without/.test(dbType)) return { withoutZone: true }
  if (/^(text|character varying(\(\d+\))?)$/.test(dbType)) return { isText: true }
  if (dbType === 'real') return { sqlType: 'float4' }
  return /^time(\(\d\))? with time zone/.test(dbType) ? { sqlType: 'timetz' } : {}
}

function geometryTraits({ dbType, srid }: ColumnType): ColumnTraits {
  const isMixed = Boolean(srid) && /^(public\.)?geometry/.test(dbType) && !/,\d+\)$/.test(dbType)
  const isRingless = /\((Multi)?(Point|LineString)Z?M?[,)]/.test(dbType)
  return {
    ...(dbType.startsWith('geography') && { geography: true }),
    ...(isMixed && { mixed: true }),
    ...(isRingless && { ringless: true }),
    ...(/\((Multi)?PolygonZ?M?[,)]/.test(dbType) && { isAreal: true }),
  }
}
