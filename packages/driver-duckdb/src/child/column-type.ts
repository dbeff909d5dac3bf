import { type DuckDBType, DuckDBTypeId } from '@duckdb/node-api'
import type { DuckdbColumn } from '../messages.ts'
import { systemOf } from './reference-system.ts'

/** DuckDB's types in the words of the service. All others are strings. */
const types = {
  [DuckDBTypeId.BOOLEAN]: 'boolean',
  [DuckDBTypeId.TINYINT]: 'integer',
  [DuckDBTypeId.SMALLINT]: 'integer',
  [DuckDBTypeId.INTEGER]: 'integer',
  [DuckDBTypeId.BIGINT]: 'integer',
  [DuckDBTypeId.UTINYINT]: 'integer',
  [DuckDBTypeId.USMALLINT]: 'integer',
  [DuckDBTypeId.UINTEGER]: 'integer',
  [DuckDBTypeId.UBIGINT]: 'integer',
  [DuckDBTypeId.HUGEINT]: 'integer',
  [DuckDBTypeId.UHUGEINT]: 'integer',
  [DuckDBTypeId.FLOAT]: 'number',
  [DuckDBTypeId.DOUBLE]: 'number',
  [DuckDBTypeId.DECIMAL]: 'number',
  [DuckDBTypeId.DATE]: 'date',
  [DuckDBTypeId.TIME]: 'time',
  [DuckDBTypeId.TIME_NS]: 'time',
  [DuckDBTypeId.TIME_TZ]: 'time',
  [DuckDBTypeId.TIMESTAMP]: 'datetime',
  [DuckDBTypeId.TIMESTAMP_S]: 'datetime',
  [DuckDBTypeId.TIMESTAMP_MS]: 'datetime',
  [DuckDBTypeId.TIMESTAMP_NS]: 'datetime',
  [DuckDBTypeId.TIMESTAMP_TZ]: 'datetime',
  [DuckDBTypeId.UUID]: 'uuid',
  [DuckDBTypeId.BLOB]: 'binary',
  [DuckDBTypeId.LIST]: 'array',
  [DuckDBTypeId.ARRAY]: 'array',
  [DuckDBTypeId.STRUCT]: 'json',
  [DuckDBTypeId.MAP]: 'json',
  [DuckDBTypeId.UNION]: 'json',
  [DuckDBTypeId.VARIANT]: 'json',
  [DuckDBTypeId.GEOMETRY]: 'geometry',
} as const

/** The attribute types of the server, as far as a column of DuckDB can have them. */
export type AttributeType = (typeof types)[keyof typeof types] | 'string'

const typesById: { readonly [id in DuckDBTypeId]?: AttributeType } = types

const maxTypeLength = 200

export function columnOf(name: string, type: DuckDBType): DuckdbColumn {
  const attributeType = attributeTypeOf(type)
  return {
    name,
    type: attributeType,
    dbType: nameOf(type),
    ...(attributeType === 'array' && itemTypeOf(type)),
    ...(type.typeId === DuckDBTypeId.VARCHAR && attributeType === 'string' && { isText: true }),
    ...(attributeType === 'datetime' && type.typeId !== DuckDBTypeId.TIMESTAMP_TZ && { withoutZone: true }),
    ...(type.typeId === DuckDBTypeId.GEOMETRY && {
      geometry: { type: 'Geometry', dimension: 2, ...systemOf(type.crs) },
    }),
  }
}

function attributeTypeOf(type: DuckDBType): AttributeType {
  if (isJson(type)) return 'json'
  return typesById[type.typeId] ?? 'string'
}

const isJson = (type: DuckDBType): boolean => type.typeId === DuckDBTypeId.VARCHAR && type.alias === 'JSON'

function itemTypeOf(type: DuckDBType): Pick<DuckdbColumn, 'itemType'> {
  if (type.typeId !== DuckDBTypeId.LIST && type.typeId !== DuckDBTypeId.ARRAY) return {}
  return { itemType: attributeTypeOf(type.valueType) }
}

/** A geometry's type has its reference system in full, in kilobytes. */
function nameOf(type: DuckDBType): string {
  if (isJson(type)) return 'JSON'
  if (type.typeId !== DuckDBTypeId.GEOMETRY) return type.toString().slice(0, maxTypeLength)
  const { srid, system } = systemOf(type.crs)
  const systemName = system ?? (srid === 0 ? undefined : srid === 4326 ? 'OGC:CRS84' : `EPSG:${srid}`)
  return systemName === undefined ? 'GEOMETRY' : `GEOMETRY(${systemName})`
}
