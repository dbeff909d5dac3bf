import { randomBytes } from 'node:crypto'
import { credentialHash, type Secrets } from './secrets.ts'

/** The one-time tokens that users get by mail, by their column. */
export type OneTimeTokenColumn = 'verification_token' | 'password_reset_token'

/** A new token: as it is mailed, as it is looked up, and encrypted for those who may see it. */
export type OneTimeToken = { readonly token: string; readonly hash: Buffer; readonly sealed: string }

export function createOneTimeToken(secrets: Secrets, column: OneTimeTokenColumn, userId: number): OneTimeToken {
  const token = randomBytes(32).toString('base64url')
  return { token, hash: credentialHash(token), sealed: secrets.seal(token, associatedData(column, userId)) }
}

export function openOneTimeToken(
  secrets: Secrets,
  column: OneTimeTokenColumn,
  userId: unknown,
  sealed: unknown,
): string {
  return sealed ? secrets.open(String(sealed), associatedData(column, userId)) : ''
}

const associatedData = (column: OneTimeTokenColumn, userId: unknown): string => `users.${column}.${userId}`
