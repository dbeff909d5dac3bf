import Type, { type Static } from 'typebox'
import type { Attribute, AttributeType } from '../query/attribute.ts'

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

/** What may be named in queries on a dataset. `metadata.srid` is for columns that have no reference system. */
export function attributesOf(dataset: {
  attributes: readonly AttributeDto[]
  metadata: Readonly<Record<string, unknown>>
}): Map<string, Attribute> {
  const { srid } = dataset.metadata
  return new Map(
    dataset.attributes.map((dto) => [dto.name, toAttribute(dto, typeof srid === 'number' ? srid : undefined)]),
  )
}

/** What queries need to know of an attribute. `srid` is for columns that have no reference system of their own. */
function toAttribute(dto: AttributeDto, srid: number | undefined): Attribute {
  const { name, type, dbType } = dto
  if (type === 'geometry') {
    const isGeography = dbType.startsWith('geography')
    const isUnlocated = !dto.srid && srid !== undefined
    const isRingless = /\((Multi)?(Point|LineString)Z?M?[,)]/.test(dbType)
    const isMixed = Boolean(dto.srid) && !isGeography && !/,\d+\)$/.test(dbType)
    return {
      name,
      type,
      srid: dto.srid || (srid ?? 0),
      ...(isGeography && { geography: true }),
      ...(isUnlocated && { unlocated: true }),
      ...(isMixed && { mixed: true }),
      ...(isRingless && { ringless: true }),
    }
  }
  if (type === 'array') return { name, type, itemType: typeOf(dbType.replace(/\[\]$/, '')) }
  return { name, type, ...(/^timestamp(\(\d\))? without/.test(dbType) && { withoutZone: true }) }
}

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

/** `character varying(20)[]` → array. What we have no word for is text: PostgreSQL can write it as such. */
export function typeOf(dbType: string): AttributeType {
  if (dbType.endsWith('[]')) return 'array'
  const bare = dbType.replace(/\([^)]*\)/, '').replace(/^public\./, '')
  return Object.hasOwn(byName, bare) ? (byName[bare] ?? 'string') : 'string'
}
