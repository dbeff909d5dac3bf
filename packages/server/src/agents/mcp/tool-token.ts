import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Caller } from '../../api/access/acl.ts'
import { toolTokenPrefix } from '../../api/access/credentials.ts'
import { type Grant, type Permissions, resolveGrant } from '../../api/access/grants.ts'
import type { Secrets } from '../../api/access/secrets/secrets.ts'

/** The grant of a tool token: what a worker may do with the tools, for one invocation. */
export type ToolGrant = { readonly invocationId: string; readonly agentId: string; readonly caller: Caller }

type Issue = {
  invocationId: string
  agentId: string
  /** The caller of the agent. */
  caller: Caller
  /** Of the agent. */
  applicationId: string
  /** The datasets that the agent is for; null for all. */
  datasetIds: readonly string[] | null
  expiresAt: Date
}

/** Tool tokens: a worker gets one with each invocation and sends it when it uses a tool. */
export type ToolTokens = {
  /** A token with the caller's ACL on datasets, narrowed to those of the agent: never more than either has. */
  issue(issue: Issue): string
  /** The grant of a token; undefined when it is not valid or has expired. */
  read(token: string, now?: Date): ToolGrant | undefined
}

/** The encrypted part of a token: the grant, and the secret that signs the invocation id and expiry. */
type Sealed = Pick<Caller, 'type' | 'applicationId' | 'permissions' | 'userId'> & {
  agentId: string
  secret: string
  /** The user who invoked the agent: what rules of datasets let the user see is all that the token reads. */
  invokedBy: number | null
}
type Grants = Map<string, { secret: string; sealed: string }>

const associatedData = 'tool token'

/** A grant is sealed once for all invocations that have the same; each signs its id and its end with the grant's secret. */
export function createToolTokens(secrets: Secrets): ToolTokens {
  const grantsOf = new WeakMap<Permissions, Grants>()

  function grantOf({ caller, agentId, applicationId, datasetIds }: Issue) {
    const { userId, permissions } = caller
    const invokedBy = invokerOf(caller)
    const type = caller.type === 'user' ? 'user' : 'app'
    const grants: Grants = grantsOf.get(permissions) ?? new Map()
    grantsOf.set(permissions, grants)
    const name = `${type} ${userId} ${invokedBy} ${agentId} ${applicationId} ${datasetIds ?? '*'}`
    const before = grants.get(name)
    if (before) return before
    const secret = randomBytes(32).toString('base64url')
    const narrow = narrowed(permissions, datasetIds)
    const granted: Sealed = { type, agentId, applicationId, permissions: narrow, userId, secret, invokedBy }
    const grant = { secret, sealed: secrets.seal(JSON.stringify(granted), associatedData) }
    grants.set(name, grant)
    return grant
  }

  return {
    issue(issue) {
      const { secret, sealed } = grantOf(issue)
      const signed = `${issue.invocationId}.${issue.expiresAt.getTime()}`
      return `${toolTokenPrefix}${signed}.${sign(secret, signed)}.${sealed}`
    },
    read(token, now = new Date()) {
      const [, signed = '', signature = '', sealed = ''] = tokenForm.exec(token) ?? []
      const [invocationId = '', time] = signed.split('.')
      const expiresAt = new Date(Number(time))
      if (!(expiresAt > now)) return undefined
      const granted = open(secrets, sealed)
      if (!granted) return undefined
      const { secret, agentId, invokedBy, ...grant } = granted
      if (!timingSafeEqual(Buffer.from(signature), Buffer.from(sign(secret, signed)))) return undefined
      const keyHash = `tools of ${invocationId}`
      return {
        invocationId,
        agentId,
        caller: {
          ...grant,
          keyHash,
          everyApplication: false,
          expiresAt,
          keyExpiresAt: expiresAt,
          allowedOrigins: null,
          bearer: null,
          toolsOf: { invocationId, agentId, userId: invokedBy },
        },
      }
    },
  }
}

const invokerOf = ({ bearer, userId, toolsOf }: Caller): number | null =>
  bearer?.userId ?? userId ?? toolsOf?.userId ?? null

const tokenForm = new RegExp(`^${RegExp.escape(toolTokenPrefix)}([^.]+\\.\\d+)\\.([\\w-]{43})\\.(.+)$`)

/** SHA-3 needs no HMAC construction: the secret as a prefix is enough. */
const sign = (secret: string, text: string): string => hash('sha3-256', secret + text, 'base64url')

function open(secrets: Secrets, sealed: string): Sealed | undefined {
  try {
    return JSON.parse(secrets.open(sealed, associatedData))
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
  if (grant === 'any') return datasetIds
  const ids = new Set(datasetIds)
  return grant.filter((id) => ids.has(id))
}
