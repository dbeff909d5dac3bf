import type { FastifyRequest } from 'fastify'
import type { Bearers } from '../access/bearers.ts'
import type { Passwords } from '../access/passwords.ts'
import type { Secrets } from '../access/secrets.ts'
import type { TokenKeys } from '../access/token-keys.ts'
import type { Tokens } from '../access/tokens.ts'
import type { Db, Queryable } from '../db/db.ts'

/** Writes a mail in the transaction of what it is about; it is sent once that is committed. */
export type Mailer = {
  send(
    tx: Queryable,
    mail: { applicationId: string; template: 'confirm' | 'reset'; to: string; values: Record<string, string> },
  ): Promise<unknown>
}

/** How long things are good for, in seconds. */
export type Lifetimes = {
  readonly accessToken: number
  readonly refreshToken: number
  readonly resetToken: number
  readonly verifyToken: number
}

export type AuthParts = {
  db: Db
  secrets: Secrets
  passwords: Passwords
  tokenKeys: TokenKeys
  tokens: Tokens
  bearers: Bearers
  mailer: Mailer
  lifetimes: Lifetimes
  /** The address that this client uses for the service. */
  baseUrl(request: FastifyRequest): string
}
