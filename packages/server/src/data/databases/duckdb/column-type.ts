// What the names of DuckDB's types mean to queries.
import type { AttributeType, ColumnTraits, ColumnType } from '../../../query/values/attribute.ts'

/** Types of an array's items; any other is compared as text. */
const itemTypes: Readonly<Record<string, AttributeType>> = {
  BOOLEAN: 'boolean',
  TINYINT: 'integer',
  SMALLINT: 'integer',
  INTEGER: 'integer',
  BIGINT: 'integer',
  HUGEINT: 'integer',
  UTINYINT: 'integer',
  USMALLINT: 'integer',
  UINTEGER: 'integer',
  UBIGINT: 'integer',
  UHUGEINT: 'integer',
  FLOAT: 'number',
  DOUBLE: 'number',
  DECIMAL: 'number',
  DATE: 'date',
  TIMESTAMP: 'datetime',
  TIMESTAMP_S: 'datetime',
  TIMESTAMP_MS: 'datetime',
  TIMESTAMP_NS: 'datetime',
  'TIMESTAMP WITH TIME ZONE': 'datetime',
  TIME: 'time',
  'TIME WITH TIME ZONE': 'time',
  UUID: 'uuid',
  JSON: 'json',
  BLOB: 'binary',
  GEOMETRY: 'geometry',
}

export function columnTraits({ type, dbType }: ColumnType): ColumnTraits {
  if (type === 'array') return { itemType: itemTypeOf(dbType.replace(/\[\]$/, '')) }
  if (/^TIMESTAMP(_S|_MS|_NS)?$/.test(dbType)) return { withoutZone: true }
  if (dbType === 'VARCHAR') return { isText: true }
  return type === 'number' && dbType.startsWith('DECIMAL') ? { decimal: dbType } : {}
}

function itemTypeOf(name: string): AttributeType {
  if (name.endsWith('[]')) return 'array'
  return itemTypes[name.replace(/\([^)]*\)/, '')] ?? 'string'
}
