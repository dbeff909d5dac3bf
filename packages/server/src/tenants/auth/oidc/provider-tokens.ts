/** Access tokens that a provider signed (RFC 9068, or a JWT like it), as the log-in of a company that has one already. */
import type { JWTPayload } from 'jose'
import type { VerifyProviderToken } from '../../../api/access/bearer-cache.ts'
import type { Secrets } from '../../../api/access/secrets/secrets.ts'
import type { Db } from '../../../kernel/db/db.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { type Account, findSettings } from '../accounts.ts'
import { holdTokenSession } from '../sessions.ts'
import { isSubject, readProfile } from './claim-mapping.ts'
import type { OidcClient } from './oidc-client.ts'
import { type ProviderRecord, providersOfTokens } from './provider-records.ts'
import { admitProfile } from './provider-users.ts'

const maxLength = 8_192
const yearMs = 366 * 24 * 3_600_000

/**
 * The user and session of such a token; undefined when it is none. Who is meant by an issuer is decided within one application, so that no
 * tenant can lay claim to the tokens of another. Called once for a token and replica: what it finds is cached.
 */
export function createProviderTokens(db: Db, secrets: Secrets, client: OidcClient): VerifyProviderToken {
  return async (token, applicationId) => {
    if (token.length > maxLength) return undefined
    const unverified = await readToken(token)
    if (!unverified) return undefined
    const { iss = '', audiences } = unverified
    const provider = (await providersOfTokens(db, applicationId, iss)).find((one) =>
      audiences.includes(one.audience ?? ''),
    )
    const audience = provider?.audience
    if (!provider || !audience) return undefined
    const claims = await client.verify(provider, token, audience)
    return claims && isAccessToken(claims) ? admit(db, secrets, provider, claims) : undefined
  }
}

/** Types of tokens (RFC 8725): those of other kinds, such as ID and log-out tokens, are signed by the same keys. */
const types = ['at+jwt', 'application/at+jwt', 'jwt']

/** What a token says of itself, which only chooses the provider that it is checked by. */
async function readToken(token: string) {
  const { decodeJwt, decodeProtectedHeader } = await import('jose')
  try {
    const { typ = 'jwt' } = decodeProtectedHeader(token)
    const { iss, aud = [] } = decodeJwt(token)
    const isMeant = types.includes(typ.toLowerCase()) && /^https?:[!-~]{1,1000}$/.test(iss ?? '')
    return isMeant ? { iss, audiences: [aud].flat() } : undefined
  } catch {
    return undefined
  }
}

/** Some providers give all their tokens one type, and differ in what they hold. */
function isAccessToken({ at_hash, c_hash, events, typ }: JWTPayload): boolean {
  const isOther = at_hash !== undefined || c_hash !== undefined || events !== undefined
  const isNamedOther = typeof typ === 'string' && /^(id|refresh|logout|offline)$/i.test(typ)
  return !isOther && !isNamedOther
}

async function admit(db: Db, secrets: Secrets, provider: ProviderRecord, claims: JWTPayload) {
  const { sub: subject, exp = 0, iat = 0 } = claims
  if (!isSubject(subject)) return undefined
  const profile = readProfile(provider.mapping, subject, claims)
  const account = await admitProfile(db, provider, profile)
  await refuseMissingFactor(db, provider, account)
  // Providers write any number.
  const expiresAt = Math.min(exp * 1_000, Date.now() + yearMs)
  const sessionId = await holdTokenSession(db, secrets, {
    account,
    providerId: provider.id,
    subject,
    claims: profile.claims,
    issuedAt: new Date(Math.max(0, Math.min(iat * 1_000, expiresAt))),
    expiresAt: new Date(expiresAt),
  })
  if (sessionId === undefined) return undefined
  return { userId: account.id, applicationId: account.applicationId, sessionId, expiresAt }
}

/** A token cannot show a code of ours. */
async function refuseMissingFactor(db: Db, { secondFactor }: ProviderRecord, account: Account): Promise<void> {
  if (secondFactor === 'trusted') return
  const isRequired = (await findSettings(db, account.applicationId))?.secondFactor === 'required'
  if (!account.secondFactor && !isRequired) return
  throw new ApiError(
    'second_factor_required',
    'A second factor is needed, which a token of the provider cannot show. Sign in by the provider’s page, or let `secondFactor` of the ' +
      'provider be "trusted".',
  )
}
