import Type from 'typebox'
import { keyFingerprint, type Trail } from '../../api/access/audit-trail.ts'
import type { Secrets } from '../../api/access/secrets/secrets.ts'
import { operationUsing } from '../../api/http/operation.ts'
import type { Db } from '../../kernel/db/db.ts'
import { redeemSignInToken, type SignInResult } from './sign-in-link.ts'

export type ExchangeServices = {
  readonly db: Db
  readonly secrets: Secrets
  /** Rate limit by address: counts an attempt as failed, or 429. Returns the function that takes it back. */
  countAddress(address: string): Promise<() => Promise<void>>
}

/** Exchanges the one-time token of a sign-in link for an API key. */
export const exchangeOperation = operationUsing<ExchangeServices>()({
  id: 'auth.exchange',
  method: 'POST',
  path: '/api/v1/auth/exchange',
  summary: 'Exchange the one-time token of a sign-in link for an API key',
  description:
    'The token stands in the address of the console that `npm start -- console` shows, and the start of a server that ' +
    'only its own machine can reach. It is good once, for an hour.',
  access: 'public',
  body: Type.Object(
    { token: Type.String({ minLength: 1, maxLength: 255 }) },
    { additionalProperties: false, examples: [{ token: '…' }] },
  ),
  success: {
    status: 200,
    description: 'The developer key of an application',
    schema: Type.Object({
      apiKey: Type.String({ format: 'uuid' }),
      applicationId: Type.String({ format: 'uuid' }),
    }),
  },
  failures: [401, 429],
  async handle({ request, services: { db, secrets, countAddress }, trail }, { body: { token } }) {
    const undoCount = await countAddress(request.ip)
    const body = await redeemSignInToken(db, secrets, token)
    await undoCount()
    if (trail) noteKey(trail, body)
    return { headers: { 'cache-control': 'no-store' }, body }
  },
})

/** Whoever has the token acts with the key from now on. */
function noteKey(trail: Trail, { apiKey, applicationId }: SignInResult): void {
  const id = keyFingerprint(apiKey)
  trail.actor = { type: 'key', id, userId: null }
  trail.applicationId = applicationId
  trail.target = { type: 'apikeys', id }
}
