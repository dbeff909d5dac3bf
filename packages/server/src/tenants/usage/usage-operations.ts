import Type, { type Static, type TNull, type TNumber, type TUnion } from 'typebox'
import { type Caller, type Scope, scopeOf } from '../../api/access/acl.ts'
import { isUuid } from '../../api/access/credentials.ts'
import type { AclClass } from '../../api/access/grants.ts'
import { freeObject } from '../../api/http/input/bounded-schemas.ts'
import { offsetParameter } from '../../api/http/offset-parameter.ts'
import { type Operation, operationUsing } from '../../api/http/operation.ts'
import { pageLinks } from '../../api/resource/page-links.ts'
import type { Db } from '../../kernel/db/db.ts'
import { and, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { invalid } from '../../kernel/errors.ts'
import { type ApplicationLimits, applicationLimitNames, limits } from '../../kernel/limits/limits.ts'
import { parseFilter } from '../../query/filter/filter.ts'
import { filterSql } from '../../query/filter/filter-sql.ts'
import type { Attribute } from '../../query/values/attribute.ts'
import { type Counter, counterNames, counters, noCounts } from './counters.ts'
import type { Tallies } from './tallies.ts'
import { countRecords, readCurrent, readPeriods, readUsedNow } from './usage-report.ts'

export type UsageServices = {
  readonly db: Db
  readonly usage: Tallies
  /** Those of the installation; null for none. */
  readonly limits: Readonly<Record<LimitName, number | null>>
  /** Types of databases whose tables are in the platform's own: their rows are storage of the application. */
  readonly platformTypes: readonly string[]
  /** Bytes of the files that an application keeps: tile archives and files of databases. */
  fileBytesOf(applicationId: string): Promise<number>
}
type LimitName = (typeof applicationLimitNames)[number]
const operation = operationUsing<UsageServices>()

/** Tables whose records are counted, with the class of the ACL that guards them. */
const recordTables = {
  agents: 'agents',
  contactpoints: 'contactpoints',
  databases: 'databases',
  datasets: 'datasets',
  styles: 'styles',
  tilesources: 'tiles',
  uploads: 'uploads',
  users: 'users',
} as const satisfies Record<string, AclClass>

const day = (description: string) =>
  Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', maxLength: 10, description }))

const querySchema = Type.Object({
  from: day('The first day, such as 2027-01-31, in UTC; 30 days up to `to` by default'),
  to: day('The last day; today by default'),
  interval: Type.Optional(Type.Enum(['day', 'month'], { description: 'What a period is; `day` by default' })),
  filter: Type.Optional(freeObject('urlBytes', { description: '`filter[applicationId]=…`: a master key reads many' })),
  limit: Type.Optional(Type.Integer({ minimum: 0, description: 'Applications in a page: 100 by default and at most' })),
  offset: offsetParameter(),
})

const countSchemas = Object.fromEntries(
  counterNames.map((name) => [name, Type.Number({ description: counters[name].description })]),
) as Record<Counter, ReturnType<typeof Type.Number>>
const countsSchema = Type.Object(countSchemas)
const limitSchemas = Object.fromEntries(
  applicationLimitNames.map((name) => [
    name,
    Type.Union([Type.Number(), Type.Null()], { description: limits[name].what }),
  ]),
) as Record<LimitName, TUnion<[TNumber, TNull]>>
const bytes = (description: string) => Type.Number({ description })

const usageSchema = Type.Object(
  {
    applicationId: Type.String({ format: 'uuid' }),
    name: Type.String({ description: 'Of the application' }),
    storage: Type.Object({
      bytes: bytes('Tables and files together'),
      tableBytes: bytes('Tables in the default database, with indexes and overviews'),
      fileBytes: bytes('Tile archives and files of databases'),
      rows: Type.Number({ description: 'Of datasets in the default database, as last estimated' }),
    }),
    uploads: Type.Object({ running: Type.Integer(), waiting: Type.Integer() }),
    records: Type.Record(Type.String(), Type.Number(), {
      description: 'How many there are, by kind: the kinds that the key may read whole',
    }),
    limits: Type.Object(limitSchemas, { description: 'Of this application; null: no limit' }),
    today: countsSchema,
    month: countsSchema,
    periods: Type.Array(Type.Object({ start: Type.String({ format: 'date' }), ...countSchemas }), {
      description: 'The days or months that were asked for, in order; those without use are left out',
    }),
  },
  { title: 'Usage' },
)

/** More than this would be read for one answer: 100 applications with a year of days. */
const maxApplications = 100
const maxDays = 400

/** What applications use, for themselves and for the operator. */
export const usageOperations: readonly Operation<UsageServices>[] = [
  operation({
    id: 'usage.get',
    method: 'GET',
    path: '/api/v1/usage',
    summary: 'Get what the application uses',
    description:
      'A key reads the usage of its own application, a master key that of all. Counters are at most 10 seconds behind, and ' +
      'days are those of UTC.',
    access: {
      class: 'applications',
      level: 'read',
      id: (_, { everyApplication, applicationId }) => (everyApplication ? undefined : applicationId),
    },
    query: querySchema,
    success: {
      status: 200,
      description: 'One report for each application',
      schema: Type.Array(usageSchema),
      headers: ['X-Total-Count', 'Link'],
    },
    async handle({ request, caller, scope, services }, { query }) {
      checkDays(query)
      const limit = Math.min(query.limit ?? maxApplications, maxApplications)
      const offset = query.offset ?? 0
      const { applications, total } = await findApplications(services.db, reach(scope, query.filter), limit, offset)
      return {
        headers: { 'x-total-count': String(total), ...pageLinks(request.url, { limit, offset }, total) },
        body: await reportsOf(services, caller, applications, query),
      }
    },
  }),
]

const dayMs = 86_400_000

function checkDays({ from, to }: Static<typeof querySchema>): void {
  for (const [name, value] of Object.entries({ from, to })) {
    if (value !== undefined && !isDay(value)) throw invalid(`query/${name}`, 'must be a day such as 2027-01-31')
  }
  const last = to === undefined ? Date.now() : Date.parse(to)
  if (from === undefined) return
  if (to !== undefined && from > to) throw invalid('query/from', 'must not be after `to`')
  if (last - Date.parse(from) > maxDays * dayMs)
    throw invalid('query/from', `must be at most ${maxDays} days before \`to\``)
}

/** `2027-02-30` is read as a day of March, or not at all. */
function isDay(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text)
}

const filterable: ReadonlyMap<string, Attribute> = new Map([
  ['applicationId', { name: 'applicationId', type: 'uuid' } satisfies Attribute],
])

/** Keys of type `user` reach records of their user only, and no application is one. */
function reach({ applicationId, ids, ownerId }: Scope, filter: unknown): Sql {
  return and([
    ...(applicationId === 'any' ? [] : [sql`id = ${applicationId}::uuid`]),
    ...(ids === 'any' ? [] : [sql`id = ANY(${ids.filter(isUuid)}::uuid[])`]),
    ...(ownerId === null ? [] : [raw('FALSE')]),
    filterSql(parseFilter(filter, filterable), () => raw('id')),
  ])
}

type ApplicationRow = { id: string; name: string; limits: ApplicationLimits }

async function findApplications(db: Db, where: Sql, limit: number, offset: number) {
  const applications = await db.query<ApplicationRow>(sql`
    SELECT id::text AS id, name, limits FROM svc.applications WHERE ${where} ORDER BY created_at, id LIMIT ${limit} OFFSET ${offset}`)
  const [count] = await db.query(sql`SELECT count(*) AS total FROM svc.applications WHERE ${where}`)
  return { applications, total: Number(count?.total) }
}

async function reportsOf(
  { db, limits: usual, platformTypes, fileBytesOf }: UsageServices,
  caller: Caller,
  applications: readonly ApplicationRow[],
  { from, to, interval = 'day' }: Static<typeof querySchema>,
): Promise<Static<typeof usageSchema>[]> {
  const ids = applications.map(({ id }) => id)
  const span = { from, to, interval }
  const [now, records, today, month, periods] = await Promise.all([
    readUsedNow(db, ids, platformTypes),
    countRecords(db, ids, readableTables(caller)),
    readCurrent(db, ids, 'day'),
    readCurrent(db, ids, 'month'),
    readPeriods(db, ids, span),
  ])
  return Promise.all(
    applications.map(async ({ id, name, limits: own }) => {
      const { storage = { tableBytes: 0, rows: 0 }, uploads = { running: 0, waiting: 0 } } = now.get(id) ?? {}
      const fileBytes = await fileBytesOf(id)
      return {
        applicationId: id,
        name,
        storage: { bytes: storage.tableBytes + fileBytes, fileBytes, ...storage },
        uploads,
        records: records.get(id) ?? {},
        limits: limitsOf(usual, own),
        today: today.get(id) ?? noCounts(),
        month: month.get(id) ?? noCounts(),
        periods: periods.get(id) ?? [],
      }
    }),
  )
}

/** Queries at once can only be lowered. */
function limitsOf(usual: UsageServices['limits'], own: ApplicationLimits): UsageServices['limits'] {
  const entries = applicationLimitNames.map((name) => [name, own[name] ?? usual[name]] as const)
  const most = (limit: number | null | undefined): number => limit ?? Number.POSITIVE_INFINITY
  const queriesAtOnce = Math.min(most(own.queriesAtOnce), most(usual.queriesAtOnce))
  return { ...(Object.fromEntries(entries) as UsageServices['limits']), queriesAtOnce }
}

/** A number of records tells a caller no more than the list that it may read. */
const readableTables = (caller: Caller): string[] =>
  Object.entries(recordTables).flatMap(([table, aclClass]) =>
    scopeOf(caller, aclClass, 'read')?.ids === 'any' ? [table] : [],
  )
