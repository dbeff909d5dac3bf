import Type from 'typebox'
import { type Caller, reachesId, scopeOf } from '../../api/access/acl.ts'
import { isUuid } from '../../api/access/credentials.ts'
import { offsetParameter } from '../../api/http/offset-parameter.ts'
import type { Operation } from '../../api/http/operation.ts'
import { getEntity } from '../../api/resource/store.ts'
import { and, type Sql, sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import { agent } from '../agent.ts'
import { type AgentServices, operation } from '../services.ts'

const statuses = ['running', 'succeeded', 'failed', 'cancelled'] as const
const text = Type.Union([Type.String(), Type.Null()])
const integer = Type.Union([Type.Integer(), Type.Null()])
const contentNote = 'Only where the agent stores content, and only with write on the agent'
const invocationSchema = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    agentId: Type.String({ format: 'uuid' }),
    applicationId: Type.String({ format: 'uuid' }),
    createdAt: Type.String({ format: 'date-time' }),
    conversationId: text,
    userId: integer,
    workerId: text,
    mode: Type.Enum(['invoke', 'stream']),
    status: Type.Enum([...statuses]),
    statusCode: integer,
    errorCode: text,
    ttfbMs: integer,
    durationMs: integer,
    inputBytes: Type.Integer(),
    outputBytes: integer,
    usage: Type.Unknown(),
    model: text,
    finishReason: text,
    traceId: text,
    metadata: Type.Unknown({ description: 'Only with write on the agent' }),
    input: Type.Union([Type.String(), Type.Null()], { description: contentNote }),
    output: Type.Union([Type.String(), Type.Null()], { description: contentNote }),
  },
  { title: 'AgentInvocation' },
)

const listSchema = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 0, description: '100 unless it is given; 1000 at most' })),
  offset: offsetParameter('To see others, give `status` or `conversationId`.'),
  status: Type.Optional(Type.Enum([...statuses])),
  conversationId: Type.Optional(Type.String({ maxLength: 128 })),
})
const maxLimit = 1_000

const path = `${agent.path}/{id}/invocations` as const

/** The operations on the history of invocations. */
export const historyOperations: readonly Operation<AgentServices>[] = [
  operation({
    id: 'agents.invocations',
    method: 'GET',
    path,
    summary: 'List what was asked of an agent, the latest first',
    description: 'What was said, and `metadata`, is null without write on the agent.',
    access: { class: 'agents', level: 'read' },
    query: listSchema,
    success: {
      status: 200,
      description: 'A page of invocations',
      schema: Type.Array(invocationSchema),
      headers: ['X-Total-Count'],
    },
    async handle({ caller, scope, services }, { params: { id }, query }) {
      const { db, agents } = services
      const { entity } = await getEntity({ resource: agent, services }, scope, id, ['id', 'applicationId'])
      await agents.history.flush()
      const where = and(conditionsOf(String(entity.id), query))
      const [count] = await db.query<{ total: number }>(
        sql`SELECT count(*)::int AS total FROM svc.agent_invocations WHERE ${where}`,
      )
      const rows = await db.query(sql`
          SELECT ${facts}, ${mayReadContent(caller, id) ? content : noContent} FROM svc.agent_invocations WHERE ${where} ORDER BY created_at DESC, id DESC
          LIMIT ${Math.min(query.limit ?? 100, maxLimit)} OFFSET ${query.offset ?? 0}`)
      return { headers: { 'x-total-count': String(count?.total) }, body: rows }
    },
  }),
  operation({
    id: 'agents.cancel',
    method: 'POST',
    path: `${path}/{invocationId}/cancel`,
    summary: 'Cancel an invocation that runs',
    description: 'Its client gets the error `cancelled`. One that has ended stays as it is.',
    access: { class: 'agents', level: 'write' },
    success: {
      status: 202,
      description: 'It ends, or has ended',
      schema: Type.Object({ id: Type.String(), status: Type.String() }),
    },
    async handle({ scope, services }, { params: { id, invocationId } }) {
      const { db, agents } = services
      const { entity } = await getEntity({ resource: agent, services }, scope, id, ['id'])
      await agents.history.flush()
      const [invocation] = isUuid(invocationId)
        ? await db.query<{ replicaId: string; status: string }>(sql`
              SELECT replica_id AS "replicaId", status FROM svc.agent_invocations
              WHERE id = ${invocationId.toLowerCase()}::uuid AND agent_id = ${String(entity.id)}::uuid`)
        : []
      if (!invocation) throw new ApiError('not_found', 'There is no invocation with this id.')
      if (invocation.status === 'running') agents.stop(invocation.replicaId, invocationId.toLowerCase())
      return { body: { id: invocationId.toLowerCase(), status: invocation.status } }
    },
  }),
]

const facts: Sql = sql`
  id, agent_id AS "agentId", application_id AS "applicationId", created_at AS "createdAt",
  conversation_id AS "conversationId", user_id AS "userId", worker_id AS "workerId", mode, status,
  status_code AS "statusCode", error_code AS "errorCode", ttfb_ms AS "ttfbMs", duration_ms AS "durationMs",
  input_bytes AS "inputBytes", output_bytes AS "outputBytes", usage, model, finish_reason AS "finishReason",
  trace_id AS "traceId"`
const content: Sql = sql`metadata, input, output`
const noContent: Sql = sql`NULL AS metadata, NULL AS input, NULL AS output`

/** Content needs write on the agent: who has that could read all content anyway, by changing the agent. */
const mayReadContent = (caller: Caller, id: string): boolean => reachesId(scopeOf(caller, 'agents', 'write'), id)

function conditionsOf(agentId: string, query: { status?: string; conversationId?: string }): Sql[] {
  const conditions = [sql`agent_id = ${agentId}::uuid`]
  if (query.status !== undefined) conditions.push(sql`status = ${query.status}`)
  if (query.conversationId !== undefined) conditions.push(sql`conversation_id = ${query.conversationId}`)
  return conditions
}
