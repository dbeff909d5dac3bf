// Attributes as the API shows them (DTO), and their conversion to query attributes.
import Type, { type Static } from 'typebox'
import type { Attribute, AttributeType } from '../query/attribute.ts'
import { typeOfColumn } from '../query/column-type.ts'

const attributeTypes = [
  ...['string', 'integer', 'number', 'boolean', 'date', 'datetime', 'time', 'uuid', 'json', 'array', 'binary'],
  'geometry',
] as AttributeType[]

export const attributeSchema = Type.Object(
  {
    name: Type.String(),
    type: Type.Enum(attributeTypes),
    dbType: Type.String({ description: 'The type in the words of the database' }),
    nullable: Type.Boolean(),
    primaryKey: Type.Boolean(),
    description: Type.String(),
    geometryType: Type.Optional(Type.String()),
    srid: Type.Optional(Type.Integer()),
    dimension: Type.Optional(Type.Integer()),
  },
  { title: 'Attribute' },
)

export type AttributeDto = Static<typeof attributeSchema>

/** The attributes that queries on a dataset may name. `metadata.srid` is the SRID of columns that have none. */
export function attributesOf(dataset: {
  attributes: readonly AttributeDto[]
  metadata: Readonly<Record<string, unknown>>
}): Map<string, Attribute> {
  const { srid } = dataset.metadata
  return new Map(
    dataset.attributes.map((dto) => [dto.name, toAttribute(dto, typeof srid === 'number' ? srid : undefined)]),
  )
}

/** Converts an attribute for queries. `srid` is used for columns without a reference system of their own. */
function toAttribute(dto: AttributeDto, srid: number | undefined): Attribute {
  const { name, type, dbType } = dto
  if (type === 'geometry') return toGeometry(dto, srid)
  if (type === 'array') return { name, type, itemType: typeOfColumn(dbType.replace(/\[\]$/, '')) }
  if (/^timestamp(\(\d\))? without|^TIMESTAMP(_S|_MS|_NS)?$/.test(dbType)) return { name, type, withoutZone: true }
  if (/^(text|character varying(\(\d+\))?|VARCHAR)$/.test(dbType)) return { name, type, isText: true }
  if (type === 'number' && dbType.startsWith('DECIMAL')) return { name, type, decimal: dbType }
  if (dbType === 'real') return { name, type, sqlType: 'float4' }
  return { name, type, ...(/^time(\(\d\))? with time zone/.test(dbType) && { sqlType: 'timetz' }) }
}

function toGeometry(dto: AttributeDto, srid: number | undefined): Attribute {
  const { name, type, dbType } = dto
  const isGeography = dbType.startsWith('geography')
  const isUnlocated = !dto.srid && srid !== undefined
  const isRingless = /\((Multi)?(Point|LineString)Z?M?[,)]/.test(dbType)
  // PostgreSQL only: it writes its type names in lower case.
  const isMixed = Boolean(dto.srid) && /^(public\.)?geometry/.test(dbType) && !/,\d+\)$/.test(dbType)
  return {
    name,
    type,
    srid: dto.srid || (srid ?? 0),
    ...(isGeography && { geography: true }),
    ...(isUnlocated && { unlocated: true }),
    ...(isMixed && { mixed: true }),
    ...(isRingless && { ringless: true }),
    ...(dto.geometryType === 'Point' && { isPoint: true }),
  }
}
