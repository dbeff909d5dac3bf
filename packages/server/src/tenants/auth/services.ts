import type { FastifyRequest } from 'fastify'
import type { BearerCache } from '../../api/access/bearer-cache.ts'
import type { Tokens } from '../../api/access/secrets/access-tokens.ts'
import type { Passwords } from '../../api/access/secrets/passwords.ts'
import type { Secrets } from '../../api/access/secrets/secrets.ts'
import type { SigningKeys } from '../../api/access/secrets/signing-keys.ts'
import { operationUsing } from '../../api/http/operation.ts'
import type { Db, Queryable } from '../../kernel/db/db.ts'
import type { OidcClient } from './oidc/oidc-client.ts'

/** Writes a mail to the outbox in a transaction; it is sent after the commit. */
export type AccountMailer = {
  send(
    tx: Queryable,
    mail: { applicationId: string; template: 'confirm' | 'reset'; to: string; values: Record<string, string> },
  ): Promise<unknown>
}

/** Lifetimes in seconds. */
export type Lifetimes = {
  readonly accessToken: number
  readonly refreshToken: number
  readonly resetToken: number
  readonly verifyToken: number
}

/** Limits that an operator may set; 0 sign-ups: any number. */
export type AuthLimits = { readonly sessionsPerUser: number; readonly signupsPerHour: number }

export type AuthServices = {
  db: Db
  secrets: Secrets
  passwords: Passwords
  tokenKeys: SigningKeys
  tokens: Tokens
  bearers: BearerCache
  mailer: AccountMailer
  lifetimes: Lifetimes
  authLimits: AuthLimits
  oidc: OidcClient
  /** The base URL of the service as this client sees it. */
  baseUrl(request: FastifyRequest): string
}

export const operation = operationUsing<AuthServices>()
