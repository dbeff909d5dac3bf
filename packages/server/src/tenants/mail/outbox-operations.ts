import Type from 'typebox'
import type { Scope } from '../../api/access/acl.ts'
import { isUuid } from '../../api/access/credentials.ts'
import { offsetParameter } from '../../api/http/offset-parameter.ts'
import { type Operation, operationUsing } from '../../api/http/operation.ts'
import { pageLinks } from '../../api/resource/page-links.ts'
import type { Db } from '../../kernel/db/db.ts'
import { and, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Mailer } from './mailer.ts'

const path = '/api/v1/outbox'
/** Mail carries links that are as good as passwords: no key of a tenant reads it. */
const access = { class: 'auth', level: 'read', master: true } as const

const dateTime = Type.String({ format: 'date-time' })
const summary = {
  id: Type.String({ format: 'uuid' }),
  applicationId: Type.String({ format: 'uuid' }),
  createdAt: dateTime,
  template: Type.String({ description: '`confirm`, `reset`, or `message` for one of a contact point' }),
  to: Type.Array(Type.String()),
  subject: Type.Union([Type.String(), Type.Null()], { description: 'null once the mail is sent' }),
  status: Type.Enum(['pending', 'delivered', 'failed', 'kept'], { description: '`kept`: there is no mail server' }),
  attempts: Type.Array(
    Type.Object({
      at: dateTime,
      statusCode: Type.Optional(Type.Integer()),
      error: Type.Optional(Type.String()),
    }),
  ),
}
const nullableText = Type.Union([Type.String(), Type.Null()])

const pageSchema = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 0, description: '100 by default, 1000 at most' })),
  offset: offsetParameter(),
})

type StoredMail = {
  id: string
  application_id: string
  created_at: Date
  template: string
  recipients: string[]
  content: string | null
  status: string
  attempts: unknown[]
}

const columns = raw('id, application_id, created_at, template, recipients, content, status, attempts')

export type OutboxServices = { readonly db: Db; readonly mailer: Mailer }
const operation = operationUsing<OutboxServices>()

/** The outbox: mails, which developers read here when no mail server is set. */
export const outboxOperations: readonly Operation<OutboxServices>[] = [
  operation({
    id: 'outbox.list',
    method: 'GET',
    path,
    summary: 'List the mail, newest first',
    access,
    audit: true,
    query: pageSchema,
    success: {
      status: 200,
      description: 'A page of mail',
      schema: Type.Array(Type.Object(summary)),
      headers: ['X-Total-Count', 'Link'],
    },
    async handle({ request, scope, services: { db, mailer } }, { query }) {
      const limit = Math.min(query.limit ?? 100, 1_000)
      const offset = query.offset ?? 0
      const rows = await db.query<StoredMail>(sql`
          SELECT ${columns} FROM svc.outbox WHERE ${reach(scope)}
          ORDER BY created_at DESC, id LIMIT ${limit} OFFSET ${offset}`)
      const [count] = await db.query(sql`SELECT count(*) AS total FROM svc.outbox WHERE ${reach(scope)}`)
      const total = Number(count?.total)
      return {
        headers: { 'x-total-count': String(total), ...pageLinks(request.url, { limit, offset }, total) },
        body: rows.map((row) => ({ ...shown(row), subject: mailer.read(row.content, row.id)?.subject ?? null })),
      }
    },
  }),
  operation({
    id: 'outbox.get',
    method: 'GET',
    path: `${path}/{id}`,
    summary: 'Get a mail',
    description: 'Its words are there until it is sent.',
    access,
    audit: true,
    success: {
      status: 200,
      description: 'The mail',
      schema: Type.Object({ ...summary, text: nullableText, html: nullableText }),
    },
    async handle({ scope, services: { db, mailer } }, { params: { id } }) {
      const where = isUuid(id) ? and([sql`id = ${id}::uuid`, reach(scope)]) : raw('FALSE')
      const [row] = await db.query<StoredMail>(sql`SELECT ${columns} FROM svc.outbox WHERE ${where}`)
      if (!row) throw new ApiError('not_found', 'There is no mail with this id.')
      const { subject = null, text = null, html = null } = mailer.read(row.content, row.id) ?? {}
      return { body: { ...shown(row), subject, text, html } }
    },
  }),
]

function reach({ applicationId, ids }: Scope): Sql {
  return and([
    ...(applicationId === 'any' ? [] : [sql`application_id = ${applicationId}::uuid`]),
    ...(ids === 'any' ? [] : [sql`id = ANY(${ids.filter(isUuid)}::uuid[])`]),
  ])
}

const shown = (row: StoredMail) => ({
  id: row.id,
  applicationId: row.application_id,
  createdAt: row.created_at.toISOString(),
  template: row.template,
  to: row.recipients,
  status: row.status,
  attempts: row.attempts,
})
