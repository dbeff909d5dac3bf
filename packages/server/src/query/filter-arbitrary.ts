import fc from 'fast-check'
import type { Attribute } from './attribute.ts'

/** The attributes that the property tests filter by, in every SQL type that serves one. */
const declared: readonly (Attribute & { readonly sqlType: string })[] = [
  { name: 'text', type: 'string', sqlType: 'text' },
  { name: 'varchar', type: 'string', sqlType: 'varchar' },
  { name: 'int4', type: 'integer', sqlType: 'int4' },
  { name: 'int8', type: 'integer', sqlType: 'int8' },
  { name: 'float8', type: 'number', sqlType: 'float8' },
  { name: 'numeric', type: 'number', sqlType: 'numeric' },
  { name: 'boolean', type: 'boolean', sqlType: 'bool' },
  { name: 'date', type: 'date', sqlType: 'date' },
  { name: 'instant', type: 'datetime', sqlType: 'timestamptz' },
  { name: 'local', type: 'datetime', sqlType: 'timestamp', withoutZone: true },
  { name: 'time', type: 'time', sqlType: 'time' },
  { name: 'uuid', type: 'uuid', sqlType: 'uuid' },
  { name: 'json', type: 'json', sqlType: 'jsonb' },
  { name: 'plainJson', type: 'json', sqlType: 'json' },
  { name: 'texts', type: 'array', itemType: 'string', sqlType: 'varchar[]' },
  { name: 'int4s', type: 'array', itemType: 'integer', sqlType: 'int4[]' },
  { name: 'float8s', type: 'array', itemType: 'number', sqlType: 'float8[]' },
  { name: 'binary', type: 'binary', sqlType: 'bytea' },
  // Names that every object inherits are names like any other.
  { name: 'constructor', type: 'string', sqlType: 'text' },
]
