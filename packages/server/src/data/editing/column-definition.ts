// Columns of tables that the API makes, by the names of types that attributes show.
import Type, { type Static } from 'typebox'
import { freeValue } from '../../api/http/input/bounded-schemas.ts'
import { fitsIdentifier, maxIdentifierBytes } from '../../kernel/db/identifier.ts'
import { ident, joinSql, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { type ApiError, invalid } from '../../kernel/errors.ts'
import type { AttributeType } from '../../query/values/attribute.ts'
import { typeOfColumn } from '../databases/postgres/column-type.ts'
import type { AttributeDto } from '../datasets/attribute-dto.ts'
import { cellText } from './input/cell-text.ts'

/** The type of a column in PostgreSQL's own words, as introspection prints it. */
const dbTypes: { readonly [type in Exclude<AttributeType, 'geometry'>]: string } = {
  string: 'text',
  integer: 'bigint',
  number: 'double precision',
  boolean: 'boolean',
  date: 'date',
  datetime: 'timestamp with time zone',
  time: 'time without time zone',
  uuid: 'uuid',
  json: 'jsonb',
  array: 'text[]',
  binary: 'bytea',
}

/** What else `dbType` may be. */
const otherTypes =
  /^(smallint|integer|bigint|real|double precision|numeric(\(\d{1,3}(,\d{1,3})?\))?|text|character varying\(\d{1,6}\)|boolean|date|timestamp with(out)? time zone|time without time zone|uuid|jsonb?)(\[\])?$/

const geometryTypes = [
  ...['Geometry', 'Point', 'LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon'],
  'GeometryCollection',
]

export const columnSchema = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: maxIdentifierBytes, description: 'At most 63 bytes of UTF-8' }),
    type: Type.Optional(Type.Enum([...Object.keys(dbTypes), 'geometry'])),
    dbType: Type.Optional(
      Type.String({
        maxLength: 100,
        description:
          'A narrower type than `type` stands for, such as `integer`, `numeric(10,2)`, `character varying(20)`, `integer[]`',
      }),
    ),
    nullable: Type.Optional(Type.Boolean({ default: true })),
    primaryKey: Type.Optional(Type.Boolean({ default: false })),
    description: Type.Optional(Type.String({ maxLength: 1_000 })),
    default: Type.Optional(freeValue('bodyBytes', { description: 'The value of rows that have none' })),
    geometryType: Type.Optional(Type.Enum(geometryTypes, { default: 'Geometry' })),
    srid: Type.Optional(Type.Integer({ minimum: 1, maximum: 998_999, default: 4326 })),
    dimension: Type.Optional(Type.Integer({ minimum: 2, maximum: 3, default: 2 })),
  },
  { additionalProperties: false },
)

export type ColumnInput = Static<typeof columnSchema>

/** A column to make, and the attribute that it will be. */
export type NewColumn = {
  /** Where it was given, for messages. */
  readonly path: string
  readonly attribute: AttributeDto
  /** The text of the default, checked. */
  readonly defaultText: string | null
  readonly isNumbered: boolean
}

/** Those of PostgreSQL itself and of the service. */
const reservedNames = new Set(['ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid', 'oid', '__proto__'])

export const tooLongName = (path: string, name: string): ApiError =>
  invalid(
    path,
    `must have at most ${maxIdentifierBytes} bytes of UTF-8, the longest name of PostgreSQL; this one has ${Buffer.byteLength(name)}`,
  )

export function checkColumnName(name: string, path: string): void {
  if (!fitsIdentifier(name)) throw tooLongName(`${path}/name`, name)
  if (reservedNames.has(name) || name.startsWith('svc_'))
    throw invalid(`${path}/name`, 'must be another name: this one is reserved')
}

/** Throws a 400 that names the place. */
export function planColumn(input: ColumnInput, path: string): NewColumn {
  const { name, nullable = true, primaryKey = false, description = '' } = input
  checkColumnName(name, path)
  const typed = input.type === 'geometry' ? geometryOf(input) : scalarOf(input, path)
  if (primaryKey && /^(json|array|geometry|binary)$/.test(typed.type))
    throw invalid(`${path}/primaryKey`, `must be false: a column of type ${typed.type} cannot be a key`)
  const attribute = { name, ...typed, nullable: nullable && !primaryKey, primaryKey, description }
  return { path, attribute, defaultText: defaultOf(input, attribute, path), isNumbered: false }
}

type TypeInput = Pick<ColumnInput, 'type' | 'dbType' | 'geometryType' | 'srid' | 'dimension'>

export function scalarOf({ type, dbType, geometryType, srid, dimension }: TypeInput, path: string) {
  if (type === undefined && dbType === undefined) throw invalid(`${path}/type`, 'is required')
  if ((geometryType ?? srid ?? dimension) !== undefined)
    throw invalid(`${path}/type`, 'must be geometry for a column with geometryType, srid or dimension')
  const named = dbType ?? dbTypes[type as keyof typeof dbTypes]
  if (!otherTypes.test(named) && named !== 'bytea')
    throw invalid(`${path}/dbType`, 'must be a type such as integer, numeric(10,2) or character varying(20)')
  const attributeType = typeOfColumn(named)
  if (type !== undefined && type !== attributeType)
    throw invalid(`${path}/dbType`, `must be a type that is ${type}, not ${attributeType}`)
  return { type: attributeType, dbType: named }
}

function geometryOf({ geometryType = 'Geometry', srid = 4326, dimension = 2 }: ColumnInput) {
  const dbType = `geometry(${geometryType}${dimension === 3 ? 'Z' : ''},${srid})`
  return { type: 'geometry' as const, dbType, geometryType, srid, dimension }
}

function defaultOf(input: ColumnInput, { type, dbType, nullable }: AttributeDto, path: string): string | null {
  if (input.default === undefined || input.default === null) return null
  if (type === 'geometry') throw invalid(`${path}/default`, 'must not be given for a geometry')
  const column = { name: input.name, type, dbType, castTo: dbType, isNotNull: !nullable, labels: null }
  const rest = { hasDefault: false, identity: undefined, isGenerated: false, isReadable: true, sequence: null }
  return cellText({ ...column, ...rest }, input.default, `${path}/default`, { isText: false, repair: false })
}

/** The columns of a new table. Without a key it gets a numbered column `id`. */
export function planColumns(inputs: readonly ColumnInput[], path: string): NewColumn[] {
  const columns = inputs.map((column, index) => planColumn(column, `${path}/${index}`))
  const names = columns.map(({ attribute }) => attribute.name)
  const twice = names.findIndex((name, index) => names.indexOf(name) !== index)
  if (twice !== -1) throw invalid(`${path}/${twice}/name`, 'must not be the name of two columns')
  const key = columns.filter(({ attribute }) => attribute.primaryKey)
  if (key.length === 0) {
    if (names.includes('id'))
      throw invalid(path, 'must have a primary key: the column id is none. Say primaryKey: true')
    return [{ ...planColumn({ name: 'id', type: 'integer', primaryKey: true }, path), isNumbered: true }, ...columns]
  }
  const [only] = key
  const isNumbered = key.length === 1 && only?.attribute.type === 'integer' && only.defaultText === null
  return columns.map((column) => (column === only ? { ...column, isNumbered } : column))
}

/** DDL takes no parameters. */
export const literal = (text: string): Sql =>
  raw(`E'${text.replaceAll('\0', '').toWellFormed().replaceAll('\\', '\\\\').replaceAll("'", "''")}'`)

/** `"name" text NOT NULL DEFAULT …` */
export function columnSql({ attribute, defaultText, isNumbered }: NewColumn): Sql {
  const { name, dbType, nullable, type, primaryKey } = attribute
  const parts = [ident(name), raw(dbType)]
  if (!nullable) parts.push(raw('NOT NULL'))
  if (isNumbered) parts.push(raw('GENERATED BY DEFAULT AS IDENTITY'))
  else if (defaultText !== null) parts.push(sql`DEFAULT ${literal(defaultText)}::${raw(dbType)}`)
  else if (primaryKey && type === 'uuid') parts.push(raw('DEFAULT gen_random_uuid()'))
  return joinSql(parts, ' ')
}
