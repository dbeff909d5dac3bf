// Attributes as the API shows them (DTO), and their conversion to query attributes.
import Type, { type Static } from 'typebox'
import type { Periods } from '../../query/execution/introspection.ts'
import { turnDegrees } from '../../query/geometry/antimeridian.ts'
import type { Attribute, Attributes, AttributeType } from '../../query/values/attribute.ts'
import type { DatabaseDriver } from '../databases/driver.ts'
import { driverOf } from '../databases/drivers.ts'

const attributeTypes = [
  ...['string', 'integer', 'number', 'boolean', 'date', 'datetime', 'time', 'uuid', 'json', 'array', 'binary'],
  'geometry',
] as AttributeType[]

export const attributeSchema = Type.Object(
  {
    name: Type.String(),
    type: Type.Enum(attributeTypes),
    dbType: Type.String({ description: 'The type in the words of the database' }),
    baseType: Type.Optional(
      Type.String({ description: 'Of a domain: the type that it limits; `record` of a composite type' }),
    ),
    nullable: Type.Boolean(),
    primaryKey: Type.Boolean(),
    description: Type.String(),
    default: Type.Optional(
      Type.String({ description: 'What rows get that have no value, as an expression of the database' }),
    ),
    generated: Type.Optional(
      Type.Enum(['always', 'byDefault'], {
        description:
          '`always`: only the database gives values, which cannot be written; `byDefault`: it counts them up where none is given',
      }),
    ),
    geometryType: Type.Optional(Type.String()),
    srid: Type.Optional(Type.Integer()),
    dimension: Type.Optional(Type.Integer()),
    hasSystems: Type.Optional(
      Type.Boolean({
        description: 'Geometries with several reference systems were seen; srid is the most frequent one',
      }),
    ),
    isOutsideDegrees: Type.Optional(
      Type.Boolean({
        description:
          'No reference system is known, and the coordinates are no longitudes and latitudes: metadata.srid has to state one',
      }),
    ),
  },
  { title: 'Attribute' },
)

export type AttributeDto = Static<typeof attributeSchema>

type Described = {
  readonly attributes: readonly AttributeDto[]
  readonly metadata: Readonly<Record<string, unknown>>
  readonly databaseType: string
  readonly periods?: Periods
}

/** Of the records that are in use: each request asks for them several times. */
const attributesByRecord = new WeakMap<Described, Attributes>()

/** The attributes that queries on a dataset may name. `metadata.srid` is the SRID of columns that have none. */
export function attributesOf(dataset: Described): Attributes {
  const attributes = attributesByRecord.get(dataset) ?? readAttributes(dataset)
  attributesByRecord.set(dataset, attributes)
  return attributes
}

export const geometriesOf = (dataset: Described): readonly Attribute[] =>
  [...attributesOf(dataset).values()].filter(({ type }) => type === 'geometry')

function readAttributes({ attributes, metadata: { srid }, databaseType, periods }: Described): Attributes {
  const driver = driverOf(databaseType)
  const fallback = typeof srid === 'number' ? srid : undefined
  return new Map(
    attributes.map((dto) => [dto.name, withPeriod(toAttribute(dto, driver, fallback), periods?.[dto.name])]),
  )
}

const degrees: ReadonlySet<number | undefined> = new Set([undefined, 0, 4326])

/** Where nothing is known of a column in degrees, its longitudes may lie beyond ±180: that finds every row, if not always as fast. */
function withPeriod(attribute: Attribute, known: number | null | undefined): Attribute {
  if (attribute.type !== 'geometry' || attribute.geography) return attribute
  const period = known === undefined && degrees.has(attribute.srid) ? turnDegrees : known
  return period ? { ...attribute, period } : attribute
}

/** Converts an attribute for queries. `srid` is used for columns without a reference system of their own. */
function toAttribute(dto: AttributeDto, driver: DatabaseDriver | undefined, srid: number | undefined): Attribute {
  const { name, type } = dto
  const traits = driver?.columnTraits(dto)
  if (type !== 'geometry') return { name, type, ...traits }
  return {
    name,
    type,
    srid: dto.srid || (srid ?? 0),
    ...(!dto.srid && srid !== undefined && { unlocated: true }),
    ...(srid !== undefined && { zeroSrid: srid }),
    ...(dto.hasSystems && { hasSystems: true }),
    ...(dto.isOutsideDegrees && srid === undefined && { isOutsideDegrees: true }),
    ...traits,
    ...(dto.geometryType === 'Point' && { isPoint: true }),
  }
}
