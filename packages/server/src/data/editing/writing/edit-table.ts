// The table that a dataset's rows are written to, as it is now. The record's attributes may be older than the table.

import type { Db } from '../../../kernel/db/db.ts'
import { ident, quoted, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { Connection } from '../../../query/execution/connection.ts'
import type { Attribute, AttributeType } from '../../../query/values/attribute.ts'
import type { Connections } from '../../databases/connection.ts'
import { driverOf } from '../../databases/drivers.ts'
import { typeOfColumn } from '../../databases/postgres/column-type.ts'
import { baseTypeOf, readableName, type TableName } from '../../databases/postgres/introspect.ts'
import { standInOf } from '../../databases/stand-in.ts'
import { tenantSchema } from '../../databases/tenant-schema.ts'
import { attributesOf } from '../../datasets/attribute-dto.ts'
import type { Dataset } from '../../datasets/dataset-record.ts'
import { type GeometryColumn, geometryColumnOf } from '../input/geometry-column.ts'
import { explainWrite } from './write-errors.ts'

export type EditColumn = {
  readonly name: string
  readonly type: AttributeType
  /** That of a domain is its base type: `character varying(20)`. */
  readonly dbType: string
  /** What a value's text is cast to. No length: a cast would cut the text silently, an assignment refuses it. */
  readonly castTo: string
  readonly isNotNull: boolean
  readonly hasDefault: boolean
  /** `always`: the database alone gives values. */
  readonly identity: 'always' | 'default' | undefined
  readonly isGenerated: boolean
  /** The user may read it, and not only write. */
  readonly isReadable: boolean
  /** The labels of an enumeration. */
  readonly labels: readonly string[] | null
  /** Where its default comes from, for identity and serial columns. */
  readonly sequence: string | null
  readonly geometry?: GeometryColumn
}

export type EditTable = {
  readonly db: Db
  /** In the platform's database: the audit entry is written in the same transaction. */
  readonly isPlatform: boolean
  /** In another database: what its changes are logged under. */
  readonly standIn?: TableName
  readonly tableName: TableName
  readonly from: Sql
  /** Queries with the application's own rights and limits. */
  connect(): Promise<Connection>
  readonly columns: ReadonlyMap<string, EditColumn>
  /** The primary key; empty without one, or where a part of it cannot be read. */
  readonly key: readonly EditColumn[]
  readonly isPartitioned: boolean
  /** Row security hides rows from some. */
  readonly isSecured: boolean
}

const refuse = (detail: string): ApiError => new ApiError('conflict', detail)

/**
 * The platform writes with its own rights, as for uploads, because the role of an application only reads: so the table must
 * lie in the application's schema. In another database the rights of its user count, and the dataset must say that it is editable.
 */
export async function openEditTable(connections: Connections, dataset: Dataset): Promise<EditTable> {
  const { type, applicationId, databaseId, source, metadata } = dataset
  if (type !== 'table') {
    throw refuse(`The rows of a dataset of type ${type} cannot be written. Use a dataset of type table.`)
  }
  const record = await connections.find(applicationId, databaseId)
  if (!record) throw refuse('The database of this dataset does not exist.')
  const driver = driverOf(record.type)
  if (!driver?.isWritable) {
    throw refuse(`A database of type ${record.type} is only read, so its rows cannot be written.`)
  }
  const { isPlatform } = driver
  if (!isPlatform && metadata.editable !== true) {
    throw refuse(
      'The table is in an external database, which is only read unless the dataset allows more. Set its metadata.editable to true.',
    )
  }
  const { db, schema } = await connections.writable(record)
  const tableName = readableName(source, schema)
  if (isPlatform && (tableName.schema !== tenantSchema(applicationId) || tableName.name.startsWith('svc_'))) {
    throw refuse('Only a table in the schema of the application can be written to.')
  }
  const from = ident(tableName.schema, tableName.name)
  const described = await describe(db, isPlatform, tableName, dataset)
  const standIn = isPlatform ? {} : { standIn: standInOf(applicationId, driver.serverKey(record), tableName) }
  return { db, isPlatform, ...standIn, tableName, from, connect: () => connections.open(record), ...described }
}

type Fact = Omit<EditColumn, 'type' | 'identity' | 'geometry'> & {
  readonly identity: string
  readonly kind: string
  readonly hasRowSecurity: boolean
  readonly keyPlace: number | null
}

async function describe(
  db: Db,
  isPlatform: boolean,
  tableName: TableName,
  dataset: Dataset,
): Promise<Pick<EditTable, 'columns' | 'key' | 'isPartitioned' | 'isSecured'>> {
  const facts = await db.query<Fact>(factsSql(tableName)).catch(explainWrite({ isPlatform }))
  const [first] = facts
  if (!first) throw refuse('The table of this dataset does not exist any more, or has no columns.')
  if (!'rp'.includes(first.kind)) {
    throw refuse(
      'Only a table can be written to, and the source of this dataset is a view. Use a dataset of its table.',
    )
  }
  if (isPlatform && first.hasRowSecurity) {
    throw refuse('The table has row-level security, so its rows are written in the database only.')
  }
  const attributes = attributesOf(dataset)
  const columns = facts.map((fact) => columnOf(fact, attributes.get(fact.name)))
  const key = facts
    .flatMap(({ keyPlace }, index) => (keyPlace === null ? [] : [{ keyPlace, column: columns[index] as EditColumn }]))
    .sort((a, b) => a.keyPlace - b.keyPlace)
  return {
    columns: new Map(columns.map((column) => [column.name, column])),
    key: key.every(({ column }) => column.isReadable) ? key.map(({ column }) => column) : [],
    isPartitioned: first.kind === 'p',
    isSecured: first.hasRowSecurity,
  }
}

function columnOf(
  { kind: _, keyPlace, hasRowSecurity, identity, ...fact }: Fact,
  attribute: Attribute | undefined,
): EditColumn {
  const type = typeOfColumn(fact.dbType)
  return {
    ...fact,
    type,
    identity: identity === 'a' ? 'always' : identity === 'd' ? 'default' : undefined,
    ...(type === 'geometry' && { geometry: geometryColumnOf(fact.dbType, attribute) }),
  }
}

/** Of a domain the base type counts, but values are cast to the domain, so that its checks are made. */
const factsSql = ({ schema, name }: TableName): Sql => sql`
  SELECT c.relkind::text AS kind, c.relrowsecurity AS "hasRowSecurity", a.attname::text AS name,
    coalesce(base.type, format_type(a.atttypid, a.atttypmod)) AS "dbType",
    format_type(a.atttypid, -1) AS "castTo", a.attnotnull OR t.typnotnull AS "isNotNull",
    a.atthasdef OR t.typdefault IS NOT NULL AS "hasDefault", a.attidentity::text AS identity, a.attgenerated <> '' AS "isGenerated",
    has_column_privilege(c.oid, a.attnum, 'SELECT') AS "isReadable",
    (SELECT array_agg(e.enumlabel::text ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = coalesce(base.oid, t.oid)) AS labels,
    pg_get_serial_sequence(${`${quoted(schema)}.${quoted(name)}`}, a.attname) AS sequence,
    array_position(i.indkey::int2[], a.attnum) AS "keyPlace"
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN LATERAL ${baseTypeOf(raw('a.atttypid'))} AS base ON TRUE
    LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
  WHERE n.nspname = ${schema}::text AND c.relname = ${name}::text AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  ORDER BY a.attnum`
