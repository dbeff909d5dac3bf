import { unwatched, type Watch } from '../../kernel/concurrency/work-watch.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Caller } from './acl.ts'
import { roleGrantsOf } from './caller-user.ts'

/**
 * Revocation: ends open requests and connections whose credential is no longer valid, because of a deleted or expired key,
 * a disabled user, an ended session, a deleted application or an invocation that is over. Each replica polls the database
 * for all of its open credentials in one query, so that no message has to pass between replicas.
 */
export type Revocation = {
  /** Calls `end` once the caller would no longer be admitted, unless the function returned is called before. */
  watch(caller: Caller, end: (reason: ApiError) => void): () => void
  /** The reason why the caller would no longer be admitted; undefined when it would be. */
  check(caller: Caller): Promise<ApiError | undefined>
  /** Something was revoked here: polls now instead of at the next interval. */
  recheck(): void
  close(): void
}

/** With the half second for which a key is cached, and `settledMs`, everything ends 1.3 s after, where two seconds are promised. */
const everyMs = 500
/** Requests that end sooner are not polled for. */
const settledMs = 300

type OpenRequest = { readonly caller: Caller; readonly end: (reason: ApiError) => void; readonly since: number }

type RevocationOptions = {
  db: Db
  onError(error: unknown): void
  /** Watches the polling. */
  watch?: Watch
  /** While the database does not answer, open requests go on for so long; then they are ended. */
  unconfirmedMs?: number
}

export function createRevocation({
  db,
  onError,
  watch = unwatched,
  unconfirmedMs = 60_000,
}: RevocationOptions): Revocation {
  const open = new Set<OpenRequest>()
  let looking: Promise<void> | undefined
  let isAskedAgain = false
  let confirmedAt = performance.now()

  function finish(one: OpenRequest, reason: ApiError): void {
    if (open.delete(one)) one.end(reason)
  }

  async function look(olderThanMs: number): Promise<void> {
    const askedAt = performance.now()
    const watched = [...open].filter(({ since }) => askedAt - since >= olderThanMs)
    const reasonFor = await findRevoked(
      db,
      watched.map(({ caller }) => caller),
    )
    confirmedAt = askedAt
    for (const one of watched) {
      const reason = reasonFor(one.caller)
      if (reason) finish(one, reason)
    }
  }

  function start(olderThanMs: number): void {
    looking = watch(() => look(olderThanMs))
      .catch(onError)
      .finally(() => {
        looking = undefined
        if (!isAskedAgain) return
        isAskedAgain = false
        start(0)
      })
  }

  function endUnconfirmed(): void {
    const last = performance.now() - unconfirmedMs
    if (confirmedAt > last) return
    for (const one of [...open]) if (one.since <= last) finish(one, unconfirmed(unconfirmedMs))
  }

  const timer = setInterval(() => {
    endUnconfirmed()
    if (!looking) start(settledMs)
  }, everyMs).unref()

  return {
    watch(caller, end) {
      const watched = { caller, end, since: performance.now() }
      open.add(watched)
      return () => void open.delete(watched)
    },
    check: async (caller) => (await findRevoked(db, [caller]))(caller),
    recheck() {
      if (open.size === 0) return
      // A poll that is already running may have read before the revocation.
      if (looking) isAskedAgain = true
      else start(0)
    },
    close: () => clearInterval(timer),
  }
}

/** A caller that is no longer admitted is answered so, whatever it was waiting for. */
export const isRevoked = (error: unknown): error is ApiError => error instanceof ApiError && error.status === 401

const unconfirmed = (forMs: number): ApiError =>
  new ApiError(
    'unavailable',
    `The key could not be checked for ${forMs / 1000} s, because the database cannot be reached. Try again shortly.`,
  )

/** Finds the callers that would be refused now, and why. */
async function findRevoked(db: Db, callers: readonly Caller[]): Promise<(caller: Caller) => ApiError | undefined> {
  if (callers.length === 0) return () => undefined
  const keys = new Set(callers.flatMap(({ keyHash, toolsOf }) => (toolsOf ? [] : [keyHash])))
  const tools = callers.flatMap(({ toolsOf }) => toolsOf ?? [])
  const sessions = new Set(callers.flatMap(({ bearer }) => (bearer ? [bearer.sessionId] : [])))
  const applications = new Set(callers.flatMap((caller) => chosenApplication(caller) ?? []))
  const holders = callers.flatMap(({ bearer, roleGrants }) => (bearer && roleGrants ? [bearer] : []))
  const rows = await db.query<{ name: string }>(sql`
    SELECT encode(k.hash, 'hex') AS name FROM svc.apikeys k
    WHERE k.hash = ANY(${Array.from(keys, (hash) => Buffer.from(hash, 'hex'))}::bytea[])
      AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())
      AND NOT EXISTS (SELECT FROM svc.users u WHERE u.id = k.user_id AND NOT u.enabled)
    UNION ALL
    SELECT s.family::text FROM svc.sessions s
    JOIN svc.users u ON u.id = s.user_id AND u.application_id = s.application_id AND u.enabled
    WHERE s.family = ANY(${[...sessions]}::uuid[]) GROUP BY s.family
    HAVING bool_and(s.revoked_at IS NULL) AND bool_or(s.expires_at > clock_timestamp())
    UNION ALL
    SELECT t.family || ' ' || (${roleGrantsOf} ->> 'digest') FROM unnest(${holders.map(({ sessionId }) => sessionId)}::text[],
      ${holders.map(({ userId }) => userId)}::bigint[]) AS t (family, id) JOIN svc.users u ON u.id = t.id
    UNION ALL
    SELECT id::text FROM svc.applications WHERE id = ANY(${[...applications]}::uuid[])
    UNION ALL
    SELECT 'tools of ' || t.id FROM unnest(${tools.map(({ invocationId }) => invocationId)}::uuid[],
      ${tools.map(({ agentId }) => agentId)}::uuid[]) AS t (id, agent)
    JOIN svc.agents a ON a.id = t.agent
    WHERE NOT EXISTS (SELECT FROM svc.agent_invocations i WHERE i.id = t.id AND i.status <> 'running')`)
  const live = new Set(rows.map(({ name }) => name))
  return (caller) => {
    const application = chosenApplication(caller)
    if (caller.toolsOf && !live.has(caller.keyHash)) {
      return new ApiError('unauthorized', 'The invocation of the tool token has ended.')
    }
    if (!live.has(caller.keyHash)) return keyEnded(caller)
    if (caller.bearer && !live.has(caller.bearer.sessionId)) {
      return new ApiError('unauthorized', 'The session has ended, or its user was disabled.')
    }
    if (caller.bearer && caller.roleGrants && !live.has(`${caller.bearer.sessionId} ${caller.roleGrants}`)) {
      return new ApiError('unauthorized', 'The roles of the user grant something else now. Ask again.')
    }
    if (application && !live.has(application)) return noApplication()
    return undefined
  }
}

const keyEnded = ({ keyExpiresAt }: Caller): ApiError =>
  new ApiError(
    'key_revoked',
    keyExpiresAt && keyExpiresAt <= new Date()
      ? `The API key expired at ${keyExpiresAt.toISOString()}. Use another key, or have a new one made.`
      : 'The API key was deleted, or its user was disabled.',
  )

/** The same message for a deleted application and for one that never existed. */
const noApplication = (): ApiError =>
  new ApiError('unauthorized', 'There is no application with the id in the x-application-id header.')

/** Only a master key outlives the application that it is used for: all other keys are deleted with theirs. */
const chosenApplication = ({ type, everyApplication, applicationId }: Caller): string | undefined =>
  type === 'master' && !everyApplication ? applicationId : undefined
