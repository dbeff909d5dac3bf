import Type, { type Static } from 'typebox'
import { authorize, type Caller, demandAnyId, type Scope, scopeOf } from '../../api/access/acl.ts'
import { offsetParameter } from '../../api/http/offset-parameter.ts'
import type { Operation } from '../../api/http/operation.ts'
import { recordGuard } from '../../api/resource/reach.ts'
import { getEntity, listEntities } from '../../api/resource/store.ts'
import { raw, sql } from '../../kernel/db/sql.ts'
import { ApiError, faulty } from '../../kernel/errors.ts'
import { unknownName } from '../../kernel/nearest-name.ts'
import type { Connection } from '../../query/execution/connection.ts'
import { type TableInfo, tableKinds } from '../../query/execution/introspection.ts'
import { database } from './database.ts'
import { type DatabaseServices, operation } from './services.ts'

const maxTables = 1_000
/** How many pages of tables a call that publishes looks through. */
const maxPages = 10
const maxPublished = 200
/** Of a call that publishes; what is left then is named, and the next call goes on. */
const publishMs = 60_000
/** Datasets that are looked through for those of a database. */
const maxDatasets = 10_000

const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

const tableSchema = Type.Object({
  schema: Type.String(),
  name: Type.String(),
  source: Type.String({ description: 'How a dataset names it' }),
  kind: Type.Enum([...tableKinds]),
  rows: Type.Union([Type.Integer(), Type.Null()], { description: 'An estimate; null where the server has none' }),
  geometryColumn: nullable('The first of them'),
  geometryType: nullable('`Geometry` where the column takes any'),
  srid: Type.Union([Type.Integer(), Type.Null()], { description: 'null where the column does not say' }),
  comment: Type.String(),
  datasetId: nullable('A dataset of this table that the key may read'),
})

const listSchema = Type.Object({
  schema: Type.Optional(Type.String({ maxLength: 63, description: 'Only the tables of this schema' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxTables, default: maxTables })),
  offset: offsetParameter('To see others, give `schema`.'),
})

const publishSchema = Type.Object(
  {
    tables: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
        maxItems: maxPublished,
        description: '`name` or `schema.name`; all that there are unless given',
      }),
    ),
    schema: Type.Optional(Type.String({ maxLength: 63, description: 'Only the tables of this schema' })),
  },
  { additionalProperties: false, examples: [{}, { schema: 'public' }, { tables: ['roads', 'parcels'] }] },
)

const publishedSchema = Type.Object({
  published: Type.Array(Type.Object({ table: Type.String(), datasetId: Type.String(), name: Type.String() })),
  skipped: Type.Array(
    Type.Object({
      table: Type.String(),
      code: Type.String({
        description: '`already_published`, `not_reached`, or why the dataset was refused',
      }),
      message: Type.String(),
      datasetId: Type.Optional(Type.String()),
    }),
  ),
})

const tables = operation({
  id: 'databases.tables',
  method: 'GET',
  path: `${database.path}/{id}/tables`,
  summary: 'List the tables and views of a database',
  description: `Those that its user may read; at most ${maxTables} at a time.`,
  access: { class: 'databases', level: 'execute' },
  query: listSchema,
  success: { status: 200, description: 'What there is', schema: Type.Array(tableSchema) },
  failures: [502, 504],
  async handle(context, { params: { id }, query }) {
    const { connection } = await openDatabase(context, id)
    const { schema, limit = maxTables, offset = 0 } = query
    const page = { ...(schema !== undefined && { schema }), limit, offset }
    const tables = await connection.tables(page, context.signal)
    const known = await publishedTables(context, id, connection)
    return { body: tables.map((table) => ({ ...table, datasetId: known.get(keyOf(table)) ?? null })) }
  },
})

const publish = operation({
  id: 'databases.publish',
  method: 'POST',
  path: `${database.path}/{id}/publish`,
  summary: 'Make datasets of the tables of a database',
  description:
    `Of those that have none yet, at most ${maxPublished} in one call, and for a minute at most: what is left is ` +
    `named, and the next call goes on. Of a database the first ${maxPages * maxTables} tables are looked through. ` +
    'The key needs write access to datasets and read access to the database, too.',
  access: { class: 'databases', level: 'execute' },
  body: publishSchema,
  beforeBody(context, { id }) {
    datasetsScope(context, id)
    return recordGuard(database)(context, { id })
  },
  success: { status: 200, description: 'The datasets made, and what was left out and why', schema: publishedSchema },
  failures: [502, 504],
  async handle(context, { params: { id }, body }) {
    const scope = datasetsScope(context, id)
    const { connection, applicationId } = await openDatabase(context, id)
    const found = await allTables(connection, body.schema, context.signal)
    const known = await publishedTables(context, id, connection)
    const tables = chooseTables(found, body.tables, connection.schema)
    const { request, caller, signal, services } = context
    const make = async ({ schema, name, source, comment: description }: TableInfo): Promise<PublishedTable> => {
      const title = schema === connection.schema ? name : `${schema}.${name}`
      const given = { type: 'table', name: title, source, description, databaseId: id }
      const body = { ...given, applicationId }
      const made = await services.createDataset({ request, caller, scope, signal }, body)
      return { datasetId: String((made.body as { id: string }).id), name: title }
    }
    return { body: await publishAll(tables, known, make, context.signal) }
  },
})

/** What a database has, and datasets of all of it. */
export const tableOperations: readonly Operation<DatabaseServices>[] = [tables, publish]

type Context = { readonly caller: Caller; readonly scope: Scope; readonly services: DatabaseServices }

/** The right to make datasets of a database, which only those have who may read it. */
function datasetsScope({ caller }: Pick<Context, 'caller'>, id: string): Scope {
  const scope = authorize(caller, { class: 'datasets', level: 'write' }, undefined)
  demandAnyId(scope)
  authorize(caller, { class: 'databases', level: 'read' }, id)
  return scope
}

type Answer = Static<typeof publishedSchema>
type PublishedTable = { datasetId: string; name: string }

async function allTables(
  connection: Connection,
  schema: string | undefined,
  signal: AbortSignal,
): Promise<TableInfo[]> {
  const tables: TableInfo[] = []
  for (let page = 0; page < maxPages; page++) {
    const part = { ...(schema !== undefined && { schema }), limit: maxTables, offset: page * maxTables }
    const found = await connection.tables(part, signal)
    tables.push(...found)
    if (found.length < maxTables) break
  }
  return tables
}

async function publishAll(
  tables: readonly TableInfo[],
  known: ReadonlyMap<string, string>,
  make: (table: TableInfo) => Promise<PublishedTable>,
  signal: AbortSignal,
): Promise<Answer> {
  const answer: Answer = { published: [], skipped: [] }
  const end = performance.now() + publishMs
  for (const info of tables) {
    const table = `${info.schema}.${info.name}`
    const datasetId = known.get(keyOf(info))
    if (datasetId) {
      const message = 'A dataset of this table exists already.'
      answer.skipped.push({ table, code: 'already_published', message, datasetId })
    } else if (answer.published.length === maxPublished || performance.now() > end) {
      const message = 'This call has reached its limit. Call again to publish the rest.'
      answer.skipped.push({ table, code: 'not_reached', message })
    } else {
      const outcome = await make(info).catch(refused(signal))
      if ('datasetId' in outcome) answer.published.push({ table, ...outcome })
      else answer.skipped.push({ table, ...outcome })
    }
  }
  return answer
}

/** One table that cannot be read is no reason to leave out the rest; a client that left is. */
const refused =
  (signal: AbortSignal) =>
  (error: unknown): { code: string; message: string } => {
    signal.throwIfAborted()
    if (!(error instanceof ApiError)) throw error
    return { code: error.code, message: error.message }
  }

/** The tables that are meant; 400 where a name means none, before any dataset is made. */
function chooseTables(found: readonly TableInfo[], names: readonly string[] | undefined, ownSchema: string) {
  if (!names) return found
  const byName = new Map<string, TableInfo>()
  for (const table of found) {
    byName.set(`${table.schema}.${table.name}`, table).set(table.source, table)
    if (table.schema === ownSchema) byName.set(table.name, table)
  }
  const faults = names.flatMap((name, index) =>
    byName.has(name)
      ? []
      : [
          {
            path: `body/tables/${index}`,
            code: 'invalid',
            message: unknownName('a table that can be read', name, byName.keys()),
          },
        ],
  )
  if (faults.length > 0) throw faulty(faults)
  return [...new Set(names.flatMap((name) => byName.get(name) ?? []))]
}

async function openDatabase(
  { scope, services }: Context,
  id: string,
): Promise<{ connection: Connection; applicationId: string }> {
  const { entity } = await getEntity({ resource: database, services }, scope, id)
  const applicationId = String(entity.applicationId)
  const { connections } = services
  const record = await connections.lookUp(applicationId, id)
  if (!record) throw new ApiError('not_found', 'There is no Database with this id.')
  return { connection: await connections.open(record), applicationId }
}

const keyOf = ({ schema, name }: { schema: string; name: string }): string => JSON.stringify([schema, name])

/** Table → dataset, of those that the caller may read. */
async function publishedTables(
  { caller, services }: Context,
  databaseId: string,
  { schema }: Connection,
): Promise<Map<string, string>> {
  const scope = scopeOf(caller, 'datasets', 'read')
  if (!scope) return new Map()
  const where = sql`database_id = ${databaseId}::uuid AND type = 'table'`
  const query = { fields: ['id', 'source'], where, order: raw('created_at DESC, id'), limit: maxDatasets, offset: 0 }
  const { page } = await listEntities(services.storeOf('Dataset'), scope, query)
  return new Map(page.map(({ entity }) => [keyOf(splitSource(String(entity.source), schema)), String(entity.id)]))
}

/** `name`, `schema.name` or either in quotes. */
function splitSource(source: string, ownSchema: string): { schema: string; name: string } {
  const parts = [...source.matchAll(/"((?:[^"]|"")+)"|([^."]+)/g)].map(
    ([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain,
  )
  const [first = source, second] = parts
  return second === undefined ? { schema: ownSchema, name: first } : { schema: first, name: second }
}
