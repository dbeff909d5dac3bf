/**
 * SQL that is run once and stored nowhere. It is a dataset of type sql that exists for one request, so that it is checked, limited and
 * answered as one is, and needs the rights that making and reading one needs.
 */
import Type from 'typebox'
import { authorize, demandAnyId, type Scope } from '../../../api/access/acl.ts'
import { operationUsing, queryWeight } from '../../../api/http/operation.ts'
import { recordGuard } from '../../../api/resource/reach.ts'
import type { BaseServices } from '../../../api/resource/resource.ts'
import { getEntity } from '../../../api/resource/store.ts'
import { ApiError, faulty } from '../../../kernel/errors.ts'
import { answerFormat } from '../../../query/formats/answer-formats.ts'
import type { RowFormat } from '../../../query/formats/cell.ts'
import { jsonFormat } from '../../../query/formats/json.ts'
import { parsePlan } from '../../../query/plan/plan.ts'
import { database } from '../../databases/database.ts'
import { attributeSchema, attributesOf } from '../attribute-dto.ts'
import type { Dataset } from '../dataset-record.ts'
import { timeoutOf, timeoutParameter } from './query-parameters.ts'
import type { QueryServices } from './query-services.ts'
import { streamAnswer, textBody } from './stream-answer.ts'

const defaultRows = 1_000
const mostRows = 50_000

const bodySchema = Type.Object(
  {
    sql: Type.String({ minLength: 1, maxLength: 100_000, description: 'One SELECT, as of a dataset of type `sql`' }),
    limit: Type.Optional(Type.Integer({ minimum: 0, maximum: mostRows, default: defaultRows })),
    explain: Type.Optional(Type.Boolean({ description: 'The plan in place of the rows' })),
  },
  { additionalProperties: false, examples: [{ sql: 'SELECT 1 AS one' }, { sql: 'SELECT 1 AS one', explain: true }] },
)

const answerSchema = Type.Object({
  attributes: Type.Optional(Type.Array(attributeSchema)),
  rows: Type.Optional(Type.Array(Type.Object({}, { additionalProperties: true }))),
  plan: Type.Optional(Type.Unknown({ description: 'With `explain`, in place of the others' })),
})

type DatabaseQueryServices = BaseServices & QueryServices

export const databaseQuery = operationUsing<DatabaseQueryServices>()({
  id: 'databases.query',
  audit: { none: 'It only reads.' },
  weight: queryWeight,
  method: 'POST',
  path: `${database.path}/{id}/query`,
  summary: 'Run SQL',
  description:
    'One SELECT with the rights and within the limits of a dataset of type `sql`: the key needs read access to the database, and ' +
    'write and execute access to datasets, too.',
  access: { class: 'databases', level: 'execute' },
  query: Type.Object({ timeout: timeoutParameter }),
  body: bodySchema,
  beforeBody(context, { id }) {
    demandSqlRights(context.scope, id)
    return recordGuard(database)(context, { id })
  },
  success: { status: 200, description: 'The rows with their attributes, or the plan', schema: answerSchema },
  failures: [413, 429, 502, 504],
  async handle(context, { params: { id }, query, body }) {
    const { services, signal, scope } = context
    const { sources, slots } = services
    const timeoutMs = timeoutOf(query.timeout)
    const { entity } = await getEntity({ resource: database, services }, scope, id)
    const { applicationId, type } = entity as Record<string, string>
    const asked = { applicationId: String(applicationId), databaseId: id, databaseType: String(type), sql: body.sql }
    const dataset = await passingDataset(services, asked, signal)
    const source = await sources.open(dataset, {})
    const plan = parsePlan({ limit: body.limit ?? defaultRows }, attributesOf(dataset))
    if (body.explain) {
      const giveBack = await slots.take(dataset.applicationId, signal)
      return { body: { plan: await source.explain(plan, { timeoutMs, signal }).finally(giveBack) } }
    }
    return streamAnswer(context, slots, dataset.applicationId, {
      begin: (whileRead) =>
        source.rows(plan, { geometry: answerFormat('json').geometry, srid: 4326 }, { timeoutMs, signal: whileRead }),
      write: (answered) => textBody(answered, (columns) => withAttributes(jsonFormat(columns), dataset)),
    })
  },
})

/** What creating a dataset of this SQL needs, and querying it. */
function demandSqlRights({ caller }: Scope, databaseId: string): void {
  for (const level of ['write', 'execute'] as const) {
    demandAnyId(authorize(caller, { class: 'datasets', level }, undefined))
  }
  authorize(caller, { class: 'databases', level: 'read' }, databaseId)
}

type DatabaseQuery = Pick<Dataset, 'applicationId' | 'databaseId' | 'databaseType'> & { readonly sql: string }

async function passingDataset({ sources }: QueryServices, asked: DatabaseQuery, signal: AbortSignal): Promise<Dataset> {
  const { sql: source, databaseType, ...where } = asked
  const draft = { ...where, type: 'sql', source, metadata: {}, secrets: null, attributes: [] }
  const { attributes } = await sources.inspect(draft, { signal, mayListTables: true }).catch(atSql)
  return { ...draft, attributes, databaseType, id: '', name: '', revision: '', serverKey: '' }
}

/** What a dataset calls its source is `sql` here. */
function atSql(error: unknown): never {
  if (!(error instanceof ApiError) || !error.faults.some(({ path }) => path === 'body/source')) throw error
  const faults = error.faults.map((fault) => (fault.path === 'body/source' ? { ...fault, path: 'body/sql' } : fault))
  throw Object.assign(faulty(faults, error.code, error.extensions), { cause: error.cause })
}

function withAttributes(format: RowFormat, { attributes }: Dataset): RowFormat {
  const begin = `{"attributes":${JSON.stringify(attributes)},"rows":`
  return { ...format, begin: begin + format.begin, end: `${format.end}}` }
}
