/** Creates what authentication needs, and what is written behind for it. */
import type { FastifyBaseLogger } from 'fastify'
import type { Caller } from '../../api/access/acl.ts'
import type { Authority } from '../../api/access/authenticate.ts'
import { createBearerCache } from '../../api/access/bearer-cache.ts'
import { createConnectionShares } from '../../api/access/connection-shares.ts'
import { createKeyCache } from '../../api/access/key-cache.ts'
import { createRateLimit } from '../../api/access/rate-limit.ts'
import { createRevocation } from '../../api/access/revocation.ts'
import { createTokens } from '../../api/access/secrets/access-tokens.ts'
import { createPasswords } from '../../api/access/secrets/passwords.ts'
import type { Secrets } from '../../api/access/secrets/secrets.ts'
import { createSigningKeys } from '../../api/access/secrets/signing-keys.ts'
import { type AuditLog, createAuditLog } from '../../api/http/audit-log.ts'
import { dropStandIns, tellAbandoned } from '../../data/changes/external-log.ts'
import { sweepChanges } from '../../data/changes/retention.ts'
import { tenantSchema } from '../../data/databases/tenant-schema.ts'
import type { MachineShare } from '../../kernel/concurrency/machine-share.ts'
import type { WorkWatch } from '../../kernel/concurrency/work-watch.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sweepWindows } from '../../kernel/db/window-counters.ts'
import type { Egress } from '../../kernel/egress/guard.ts'
import type { Config } from '../../kernel/settings/config.ts'
import { sweepAudit } from '../../tenants/audit/retention.ts'
import { createOidcClient } from '../../tenants/auth/oidc/oidc-client.ts'
import { createProviderTokens } from '../../tenants/auth/oidc/provider-tokens.ts'
import { sweepSignInCodes } from '../../tenants/auth/oidc/sign-in-codes.ts'
import { sweepSessions } from '../../tenants/auth/sessions.ts'

type AuthorityOptions = {
  readonly db: Db
  readonly works: WorkWatch
  readonly secrets: Secrets
  readonly logger: FastifyBaseLogger
  readonly config: Pick<
    Config,
    | 'ACCESS_TOKEN_TTL'
    | 'AUDIT_DAYS'
    | 'CHANGE_LOG_HOURS'
    | 'CONNECTIONS_PER_APPLICATION'
    | 'MAX_CONNECTIONS'
    | 'REFRESH_TOKEN_TTL'
    | 'REQUESTS_PER_SECOND'
    | 'RESET_TOKEN_TTL'
    | 'SESSIONS_PER_USER'
    | 'SIGNUPS_PER_HOUR'
    | 'VERIFY_TOKEN_TTL'
  >
}

/** Access: keys, tokens of users, and revocation. */
export function openAuthority(
  { db, works, secrets, config, logger }: AuthorityOptions,
  share: MachineShare,
  egress: Pick<Egress, 'fetch'>,
) {
  const revocation = createRevocation({
    db,
    onError: (error) => logger.warn({ err: error }, 'revoked keys and sessions could not be checked'),
    watch: works.part('revocation'),
  })
  const lifetimes = lifetimesOf(config)
  const tokenKeys = createSigningKeys(db, secrets, lifetimes.accessToken)
  const tokens = createTokens(tokenKeys, secrets, lifetimes.accessToken)
  const keys = createKeyCache(db, revocation.recheck)
  const oidc = createOidcClient(egress.fetch, secrets)
  const bearers = createBearerCache(db, tokens, keys, revocation.recheck, createProviderTokens(db, secrets, oidc))
  const noteRequest = db.noteRequest && (({ applicationId }: Caller) => db.noteRequest?.(tenantSchema(applicationId)))
  const limitRate = createRateLimit(config.REQUESTS_PER_SECOND, share)
  const holdConnection = createConnectionShares({
    total: config.MAX_CONNECTIONS,
    perApplication: config.CONNECTIONS_PER_APPLICATION,
    share,
  })
  const authority = { keys, bearers, revocation, noteRequest, limitRate, holdConnection }
  const onUnwritten = (error: unknown) => logger.warn({ err: error }, 'audit entries were not written')
  const audit = createAuditLog(db, onUnwritten, works.part('audit'))
  const authLimits = { sessionsPerUser: config.SESSIONS_PER_USER, signupsPerHour: config.SIGNUPS_PER_HOUR }
  return { authority, passwords: createPasswords(share), tokenKeys, tokens, oidc, lifetimes, authLimits, audit }
}

const lifetimesOf = (config: AuthorityOptions['config']) => ({
  accessToken: config.ACCESS_TOKEN_TTL,
  refreshToken: config.REFRESH_TOKEN_TTL,
  resetToken: config.RESET_TOKEN_TTL,
  verifyToken: config.VERIFY_TOKEN_TTL,
})

const upkeepMs = 60_000

/** Writes behind what may be, such as the last use of keys, and sweeps what has ended. */
export function startUpkeep({ db, works, config, logger }: AuthorityOptions, { keys }: Authority, audit: AuditLog) {
  const warning = (text: string) => (error: unknown) => logger.warn({ err: error }, text)
  const [watchFlush, watchSweep] = [works.part('keys'), works.part('sweeps')]
  const write = () => Promise.all([keys.flush(), audit.flush()])
  const flush = () => watchFlush(write).catch(warning('key usage and audit were not written'))
  const sweep = () =>
    watchSweep(() => sweepEnded(db, config)).catch(warning('ended sessions and old audit entries were not swept'))
  const timer = setInterval(() => void Promise.all([flush(), sweep()]), upkeepMs).unref()
  return { flush, pause: () => clearInterval(timer) }
}

async function sweepEnded(db: Db, { AUDIT_DAYS, CHANGE_LOG_HOURS }: AuthorityOptions['config']): Promise<void> {
  await sweepSessions(db)
  await sweepSignInCodes(db)
  await sweepWindows(db)
  await sweepAudit(db, AUDIT_DAYS)
  await tellAbandoned(db)
  await sweepChanges(db, CHANGE_LOG_HOURS)
  await dropStandIns(db)
}
