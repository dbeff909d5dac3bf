import { isUuid } from '../credentials.ts'
import type { Secrets } from './secrets.ts'
import { type SigningKeys, tokenAlgorithm } from './signing-keys.ts'

/** What an access token says: who, in which application, by which session. */
export type Claims = { readonly userId: number; readonly applicationId: string; readonly sessionId: string }

/** A token that was found genuine, and when it ends. */
export type VerifiedToken = Claims & { readonly expiresAt: number }

/** With the names of the user's roles, for those who read a token. The platform looks them up at each request. */
export type SignedClaims = Claims & { readonly roles: readonly string[] }

export type Tokens = {
  sign(claims: SignedClaims): Promise<string>
  /** Nothing when the token is not ours, not an access token, or over. */
  verify(token: string): Promise<VerifiedToken | undefined>
}

/** What each of our tokens begins with, as `sign` writes it: those of others are told apart without being parsed. */
const beginning = Buffer.from(`{"alg":"${tokenAlgorithm}","kid":"`).toString('base64url').slice(0, -2)

/** Whether it may be a token of the platform; one that is not never is. */
export const mayBePlatformToken = (token: string): boolean => token.startsWith(beginning)

const type = 'at+jwt'
const maxLength = 2_048
/** Of all names together, as JSON: a token travels with each request. */
const maxRolesBytes = 800

const areShort = (roles: readonly string[]): boolean => Buffer.byteLength(JSON.stringify(roles)) <= maxRolesBytes

/** Access tokens (RFC 9068). The algorithm and the key are those of our own records, whatever a token says of itself. */
export function createTokens(keys: SigningKeys, secrets: Secrets, seconds: number): Tokens {
  const issuer = `graticule:${secrets.fingerprint}`
  return {
    async sign({ userId, applicationId, sessionId, roles }) {
      const { SignJWT } = await import('jose')
      const { kid, key } = await keys.current()
      const now = Math.floor(Date.now() / 1_000)
      return new SignJWT({ sid: sessionId, ...(areShort(roles) && { roles }) })
        .setProtectedHeader({ alg: tokenAlgorithm, kid, typ: type })
        .setIssuer(issuer)
        .setAudience(applicationId)
        .setSubject(String(userId))
        .setIssuedAt(now)
        .setExpirationTime(now + seconds)
        .sign(key)
    },
    async verify(token) {
      if (token.length > maxLength) return undefined
      const { jwtVerify } = await import('jose')
      const options = { algorithms: [tokenAlgorithm], issuer, typ: type, requiredClaims: ['exp', 'sub', 'aud', 'sid'] }
      const verified = await jwtVerify(token, ({ kid }: { kid?: string }) => keyOf(keys, kid), options).catch(ifRefused)
      return verified && readClaims(verified.payload)
    },
  }
}

async function keyOf(keys: SigningKeys, kid: unknown) {
  const key = typeof kid === 'string' && isUuid(kid) ? await keys.find(kid) : undefined
  if (!key) throw new UnknownKey()
  return key.key
}

class UnknownKey extends Error {}

/** A database that does not answer is not the token's fault. */
function ifRefused(error: unknown): undefined {
  const isRefusal = error instanceof UnknownKey || (error instanceof Error && 'code' in error && isJoseCode(error.code))
  if (!isRefusal) throw error
}

const isJoseCode = (code: unknown): boolean => String(code).startsWith('ERR_J')

function readClaims({ sub, aud, sid, exp }: Record<string, unknown>): VerifiedToken | undefined {
  const userId = Number(sub)
  if (!Number.isSafeInteger(userId) || typeof aud !== 'string' || typeof sid !== 'string') return undefined
  if (!isUuid(aud) || !isUuid(sid) || typeof exp !== 'number') return undefined
  return { userId, applicationId: aud, sessionId: sid, expiresAt: exp * 1_000 }
}
