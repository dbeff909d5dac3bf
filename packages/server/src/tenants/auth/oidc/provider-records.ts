// Providers as sign-ins and tokens need them: read from the database, with their secret opened.

import { isUuid } from '../../../api/access/credentials.ts'
import type { Secrets } from '../../../api/access/secrets/secrets.ts'
import type { Queryable } from '../../../kernel/db/db.ts'
import { sql } from '../../../kernel/db/sql.ts'
import type { ClaimMapping } from './claim-mapping.ts'

export type ProviderRecord = {
  readonly id: string
  readonly applicationId: string
  readonly revision: string
  readonly issuer: string
  readonly clientId: string
  /** Sealed. */
  readonly clientSecret: string | null
  readonly scopes: readonly string[]
  readonly mapping: ClaimMapping
  readonly emailDomains: readonly string[]
  readonly createsUsers: boolean
  readonly linksUsers: boolean
  readonly secondFactor: 'demanded' | 'trusted'
  readonly audience: string | null
}

const selectProvider = sql`
  SELECT id, application_id AS "applicationId", revision::text, issuer, client_id AS "clientId",
         client_secret AS "clientSecret", scopes, mapping, email_domains AS "emailDomains", creates_users AS "createsUsers",
         links_users AS "linksUsers", second_factor AS "secondFactor", audience
  FROM svc.oidcproviders`

/** Undefined where there is none, or it is switched off. */
export async function findProvider(db: Queryable, id: string): Promise<ProviderRecord | undefined> {
  if (!isUuid(id)) return undefined
  const [record] = await db.query<ProviderRecord>(sql`${selectProvider} WHERE id = ${id}::uuid AND enabled`)
  return record
}

/** The providers of an application, of the default one where none is named, whose access tokens by this issuer are taken. */
export const providersOfTokens = (
  db: Queryable,
  applicationId: string | undefined,
  issuer: string,
): Promise<ProviderRecord[]> =>
  db.query<ProviderRecord>(sql`
    ${selectProvider} WHERE issuer = ${issuer} AND enabled AND accepts_tokens
      AND application_id = COALESCE(${applicationId ?? null}::uuid, (SELECT id FROM svc.applications WHERE is_default))
    ORDER BY created_at, id LIMIT 10`)

/** Copied to another application it does not open. */
const associatedData = (applicationId: string): string => `oidcproviders.client_secret.${applicationId}`

export const sealClientSecret = (secrets: Secrets, applicationId: string, secret: string): string =>
  secrets.seal(secret, associatedData(applicationId))

export const openClientSecret = (
  secrets: Secrets,
  { applicationId, clientSecret }: ProviderRecord,
): string | undefined => (clientSecret === null ? undefined : secrets.open(clientSecret, associatedData(applicationId)))
