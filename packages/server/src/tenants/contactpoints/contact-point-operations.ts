import { hash } from 'node:crypto'
import Type from 'typebox'
import type { Caller } from '../../api/access/acl.ts'
import { offsetParameter } from '../../api/http/offset-parameter.ts'
import { type Operation, operationUsing } from '../../api/http/operation.ts'
import { pageLinks } from '../../api/resource/page-links.ts'
import { recordGuard } from '../../api/resource/reach.ts'
import type { BaseServices } from '../../api/resource/resource.ts'
import { standardOperations } from '../../api/resource/standard-operations.ts'
import { getEntity } from '../../api/resource/store.ts'
import { sql } from '../../kernel/db/sql.ts'
import { invalid } from '../../kernel/errors.ts'
import { contactPoint } from './contact-point.ts'
import type { Deliveries } from './deliveries.ts'
import type { Settings } from './driver.ts'
import { driverNames, driverOf } from './drivers.ts'
import { readMessage, sendSchema } from './message.ts'

const dateTime = Type.String({ format: 'date-time' })
const deliverySchema = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    status: Type.Enum(['pending', 'delivered', 'failed']),
    attempts: Type.Array(
      Type.Object({
        at: dateTime,
        statusCode: Type.Optional(Type.Integer()),
        error: Type.Optional(Type.String()),
      }),
    ),
    createdAt: dateTime,
  },
  { title: 'Delivery' },
)

const pageSchema = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 0, description: '100 by default, 1000 at most' })),
  offset: offsetParameter(),
})

export type ContactPointServices = BaseServices & { readonly deliveries: Deliveries }
const operation = operationUsing<ContactPointServices>()
const { path } = contactPoint

const driverList = operation({
  id: 'contactpoints.drivers',
  method: 'GET',
  path: `${path}/drivers`,
  summary: 'List the kinds of contact point',
  access: { class: 'contactpoints', level: 'read', id: () => undefined },
  success: { status: 200, description: 'Their names', schema: Type.Array(Type.String()) },
  handle: async () => ({ body: driverNames }),
})

const send = operation({
  id: 'contactpoints.send',
  method: 'POST',
  path: `${path}/{id}/send`,
  summary: 'Send a message to a contact point',
  description:
    'The message is delivered later, and tried again where that fails. With an `Idempotency-Key` header an equal ' +
    'request is accepted once.',
  access: { class: 'contactpoints', level: 'execute' },
  body: sendSchema,
  beforeBody: recordGuard(contactPoint),
  bodyLimit: 131_072,
  success: {
    status: 202,
    description: 'The message will be delivered',
    schema: Type.Object({ id: Type.String({ format: 'uuid' }), status: Type.Enum(['accepted']) }),
  },
  failures: [409, 429],
  async handle({ request, caller, scope, services }, { params: { id }, body }) {
    const { entity } = await getEntity({ resource: contactPoint, services }, scope, id)
    const message = readMessage(body)
    const { checkMessage } = driverOf(entity.type)
    if (checkMessage) checkMessage(message, entity.settings as Settings)
    else if (message.to) throw invalid('body/to', 'is only for contact points of type email')
    const point = { id: String(entity.id), isEnabled: entity.enabled === true }
    const key = readIdempotencyKey(request.headers['idempotency-key'], caller)
    return { body: { id: await services.deliveries.accept(point, message, key), status: 'accepted' } }
  },
})

const deliveryList = operation({
  id: 'contactpoints.deliveries',
  method: 'GET',
  path: `${path}/{id}/deliveries`,
  summary: 'List what was sent to a contact point, newest first',
  access: { class: 'contactpoints', level: 'read' },
  query: pageSchema,
  success: {
    status: 200,
    description: 'A page of deliveries',
    schema: Type.Array(deliverySchema),
    headers: ['X-Total-Count', 'Link'],
  },
  async handle({ request, scope, services }, { params: { id }, query }) {
    const { db } = services
    const { entity } = await getEntity({ resource: contactPoint, services }, scope, id, ['id'])
    const pointId = String(entity.id)
    const limit = Math.min(query.limit ?? 100, 1_000)
    const offset = query.offset ?? 0
    const rows = await db.query<{ id: string; status: string; attempts: unknown[]; created_at: Date }>(sql`
        SELECT id, status, attempts, created_at FROM svc.deliveries WHERE contact_point_id = ${pointId}::uuid
        ORDER BY created_at DESC, id LIMIT ${limit} OFFSET ${offset}`)
    const [count] = await db.query(
      sql`SELECT count(*) AS total FROM svc.deliveries WHERE contact_point_id = ${pointId}::uuid`,
    )
    const total = Number(count?.total)
    return {
      headers: { 'x-total-count': String(total), ...pageLinks(request.url, { limit, offset }, total) },
      body: rows.map(({ created_at, ...row }) => ({ ...row, createdAt: created_at.toISOString() })),
    }
  },
})

export const contactPointOperations: readonly Operation<ContactPointServices>[] = [
  driverList,
  send,
  deliveryList,
  ...standardOperations(contactPoint),
]

/** Idempotency keys belong to their caller: those of others neither collide nor are revealed. */
function readIdempotencyKey(header: string | string[] | undefined, caller: Caller): string | undefined {
  if (header === undefined) return undefined
  if (typeof header !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(header)) {
    throw invalid('header/idempotency-key', 'must be 1 to 255 visible ASCII characters')
  }
  const userId = caller.bearer?.userId ?? caller.userId ?? ''
  return hash('sha256', `${caller.keyHash} ${userId} ${header}`, 'base64url')
}
