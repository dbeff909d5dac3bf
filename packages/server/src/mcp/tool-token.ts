import { type Caller, type Grant, type Permissions, resolveGrant } from '../access/acl.ts'
import { toolTokenPrefix } from '../access/authenticate.ts'
import type { Secrets } from '../access/secrets.ts'

/** What a worker may do with the tools, for one invocation. */
export type ToolGrant = { readonly invocationId: string; readonly caller: Caller }

type Issue = {
  invocationId: string
  /** Whoever asked the agent. */
  caller: Caller
  /** Of the agent. */
  applicationId: string
  /** The datasets that the agent is for; null for all. */
  datasetIds: readonly string[] | null
  expiresAt: Date
}

const place = 'tool token'

/** A token with the caller's ACL on datasets, narrowed to those of the agent: never more than either has. */
export function issueToolToken(secrets: Secrets, issue: Issue): string {
  const { invocationId, caller, applicationId, datasetIds, expiresAt } = issue
  const granted: Caller = {
    keyId: `tools of ${invocationId}`,
    type: caller.type === 'user' ? 'user' : 'app',
    applicationId,
    everyApplication: false,
    permissions: narrowed(caller.permissions, datasetIds),
    userId: caller.userId,
    expiresAt,
    allowedOrigins: null,
    bearer: null,
  }
  return toolTokenPrefix + secrets.seal(JSON.stringify({ invocationId, caller: granted }), place)
}

/** What the token grants, or nothing when it is none or its time is over. */
export function readToolToken(secrets: Secrets, token: string, now = new Date()): ToolGrant | undefined {
  if (!token.startsWith(toolTokenPrefix)) return undefined
  try {
    const { invocationId, caller } = JSON.parse(secrets.open(token.slice(toolTokenPrefix.length), place)) as ToolGrant
    const expiresAt = new Date(String(caller.expiresAt))
    return expiresAt > now ? { invocationId, caller: { ...caller, expiresAt } } : undefined
  } catch {
    return undefined
  }
}

function narrowed(permissions: Permissions, datasetIds: readonly string[] | null): Permissions {
  const levels = ['read', 'execute'].map((level) => {
    const ids = narrow(resolveGrant(permissions, 'datasets', level), datasetIds)
    return [level, ids === 'any' ? '*' : ids] as const
  })
  return { datasets: Object.fromEntries(levels) }
}

function narrow(grant: Grant, datasetIds: readonly string[] | null): Grant {
  if (datasetIds === null) return grant
  return grant === 'any' ? datasetIds : grant.filter((id) => datasetIds.includes(id))
}
