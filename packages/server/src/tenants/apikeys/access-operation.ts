import Type from 'typebox'
import { type Caller, denied, keyTypes } from '../../api/access/acl.ts'
import { permissionsSchema } from '../../api/access/permissions.ts'
import { operationUsing } from '../../api/http/operation.ts'
import { userIdentity } from '../../api/resource/user-id.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import { invalid } from '../../kernel/errors.ts'

const accessSchema = Type.Object({
  application: Type.Union([Type.Object({ id: Type.String({ format: 'uuid' }), name: Type.String() }), Type.Null()], {
    description: 'Null for a master key without `x-application-id`: it reaches every application',
  }),
  type: Type.Enum([...keyTypes]),
  description: Type.String({ description: 'Of the key, or of the one that the access token stands for' }),
  permissions: permissionsSchema,
  expiresAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'When the credentials end: the key, or an access token that came without one if that is sooner',
  }),
  allowedOrigins: Type.Union([Type.Array(Type.String()), Type.Null()]),
  user: Type.Union(
    [
      Type.Object({
        id: userIdentity.schema,
        email: Type.String(),
        firstName: Type.String(),
        lastName: Type.String(),
        roles: Type.Array(Type.String()),
      }),
      Type.Null(),
    ],
    { description: 'The user of the access token, or of a key of type `user`' },
  ),
})

/**
 * Introspection of the credentials of a request. Any valid credential may ask, so that a client can distinguish an ended
 * session from a 401 that only means "not allowed".
 */
export const accessOperation = operationUsing<{ readonly db: Db }>()({
  id: 'auth.access',
  method: 'GET',
  path: '/api/v1/auth/access',
  summary: 'Get what the credentials of this request are and may do',
  description: 'Any live key or access token may ask; the id of the key is not told.',
  access: 'key',
  success: { status: 200, description: 'The application, the rights and the user', schema: accessSchema },
  async handle({ caller, services: { db } }) {
    const { type, permissions, allowedOrigins, expiresAt, everyApplication } = caller
    const { application, description, user } = await describe(db, caller)
    if (!application) throw invalid('header/x-application-id', 'must be the id of an application that exists')
    return {
      headers: { 'cache-control': 'no-store' },
      body: {
        application: everyApplication ? null : application,
        type,
        description,
        permissions,
        expiresAt: expiresAt?.toISOString() ?? null,
        allowedOrigins,
        user,
      },
    }
  },
})

type Described = { description: string; application: object | null; user: object | null }

/** Asks the database, because cached keys and sessions are up to a second old; 401 if one has ended. */
async function describe(db: Db, { keyHash, applicationId, bearer, ...key }: Caller): Promise<Described> {
  const userId = bearer?.userId ?? key.userId
  const [row] = await db.query<Described>(sql`
    SELECT k.description,
           (SELECT json_build_object('id', id, 'name', name) FROM svc.applications WHERE id = ${applicationId}::uuid) AS application,
           (SELECT json_build_object('id', id::text, 'email', email, 'firstName', first_name, 'lastName', last_name, 'roles', roles)
            FROM svc.users WHERE id = ${userId} AND application_id = ${applicationId}::uuid AND enabled) AS user
    FROM svc.apikeys k WHERE hash = ${Buffer.from(keyHash, 'hex')}`)
  if (!row || (userId !== null && row.user === null))
    throw denied('The API key or the access token is no longer valid.')
  return row
}
