// Type mapping: the attribute type of each SQL column type, by the names that engines use.
import type { AttributeType } from './attribute.ts'

const byName: Record<string, AttributeType> = {
  boolean: 'boolean',
  tinyint: 'integer',
  hugeint: 'integer',
  utinyint: 'integer',
  usmallint: 'integer',
  uinteger: 'integer',
  ubigint: 'integer',
  uhugeint: 'integer',
  float: 'number',
  double: 'number',
  decimal: 'number',
  timestamp: 'datetime',
  timestamp_s: 'datetime',
  timestamp_ms: 'datetime',
  timestamp_ns: 'datetime',
  time: 'time',
  blob: 'binary',
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
  const bare = dbType
    .toLowerCase()
    .replace(/\([^)]*\)/, '')
    .replace(/^public\./, '')
  return Object.hasOwn(byName, bare) ? (byName[bare] ?? 'string') : 'string'
}
