import { developerPermissions } from '../../api/access/first-permissions.ts'
import type { Db, Queryable } from '../../kernel/db/db.ts'
import { json, raw, sql } from '../../kernel/db/sql.ts'
import type { Config } from '../../kernel/settings/config.ts'
import { createSignInToken } from '../../tenants/apikeys/sign-in-link.ts'

/** Where people reach the server, as far as its settings tell. */
export function serverAddress({ BASE_URL, HOST }: Pick<Config, 'BASE_URL' | 'HOST'>, port: number): string {
  const isEveryAddress = ['0.0.0.0', '::'].includes(HOST)
  const host = isEveryAddress ? 'localhost' : HOST.includes(':') ? `[${HOST}]` : HOST
  return BASE_URL ?? `http://${host}:${port}`
}

export const consoleAddress = (address: string): string => `${address}/console/`

type LinkOptions = {
  /** The default one when none is said. */
  readonly applicationId?: string
  readonly endsAtRestart: boolean
}

/**
 * An address of the console that signs in whoever opens it, once, within an hour, with the developer key of an
 * application; nothing when it has none. The token is in the fragment, which browsers do not send to any server.
 */
export async function createConsoleLink(
  db: Db,
  address: string,
  { applicationId, endsAtRestart }: LinkOptions,
): Promise<string | undefined> {
  const key = await findDeveloperKey(db, applicationId)
  if (!key) return undefined
  return `${consoleAddress(address)}#token=${await createSignInToken(db, key, { endsAtRestart })}`
}

/** The hash of the oldest key that can do everything in the application, from everywhere, without end. */
async function findDeveloperKey(db: Queryable, applicationId: string | undefined): Promise<Uint8Array | undefined> {
  const isWanted = applicationId ? sql`a.id = ${applicationId}::uuid` : raw('a.is_default')
  const [key] = await db.query<{ hash: Uint8Array }>(sql`
    SELECT k.hash FROM svc.apikeys k JOIN svc.applications a ON a.id = k.application_id
    WHERE ${isWanted} AND k.type = 'app' AND k.permissions = ${json(developerPermissions)}
      AND k.expires_at IS NULL AND k.allowed_origins IS NULL
    ORDER BY k.created_at, k.hash LIMIT 1`)
  return key?.hash
}
