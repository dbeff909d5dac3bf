import { ApiError } from '../../kernel/errors.ts'
import type { Trail } from './audit-trail.ts'
import type { CallerUser } from './caller-user.ts'
import { type AclClass, type AclLevel, type Grant, grantsInclude, type Permissions, resolveGrant } from './grants.ts'

/** From the least to the most powerful. */
export const keyTypes = ['user', 'app', 'master'] as const

export type KeyType = (typeof keyTypes)[number]

/** The user and session of an access token. */
export type Bearer = {
  readonly userId: number
  readonly sessionId: string
  /** What the provider that the user signed in by says of them, as its mapping selects it. */
  readonly claims?: Readonly<Record<string, unknown>>
}

/** The caller of a request, as its credential says. */
export type Caller = {
  /** The SHA-256 of the key in hexadecimal; the key itself is a credential and is not kept. */
  readonly keyHash: string
  readonly type: KeyType
  /** The application of the key; the one a master key chose with `x-application-id`. */
  readonly applicationId: string
  /** Set when a master key did not choose an application: it reaches all of them. */
  readonly everyApplication: boolean
  readonly permissions: Permissions
  /** Only for keys of type `user`. */
  readonly userId: number | null
  /** The expiry of the credential: of the key, or of the token in its place if that is sooner. */
  readonly expiresAt: Date | null
  /** The expiry of the key. Until then the user of a token can log in again. */
  readonly keyExpiresAt: Date | null
  readonly allowedOrigins: readonly string[] | null
  /** The rate limit of the application's keys, if it differs from the installation's. */
  readonly requestsPerSecond?: number | null
  /** Open connections of its application, if they differ from the usual. */
  readonly connections?: number | null
  /** The user whose access token came with the request, or in place of a key. */
  readonly bearer: Bearer | null
  /** Who asks: the user of the token, or of the key. Absent where the credential stands for nobody. */
  readonly user?: CallerUser | null
  /** The digest of what the roles of the user grant besides the key, where they do. */
  readonly roleGrants?: string
  /** The metadata of the key. */
  readonly keyMetadata?: Readonly<Record<string, unknown>>
  /** The invocation whose tool token stands in place of a key; it ends with the invocation. */
  readonly toolsOf?: {
    readonly invocationId: string
    readonly agentId: string
    /** The user who invoked the agent. */
    readonly userId: number | null
  }
}

/**
 * The rows that a request may reach. Every store function demands one, and only this file makes one,
 * so that neither the tenant nor the ACL can be forgotten.
 */
export type Scope = {
  readonly [proof]: true
  readonly caller: Caller
  readonly applicationId: string | 'any'
  readonly ids: Grant
  /** A key of type `user` reaches only what this user owns. */
  readonly ownerId: number | null
  /** The entry of the audit log: what is stored in this scope is written together with it. */
  readonly trail?: Trail | undefined
}

const proof: unique symbol = Symbol('scope')
const proven = { [proof]: true } as const

/** The rows of a class that the caller may reach at a level, or nothing at all. */
export function scopeOf(caller: Caller, aclClass: AclClass, level: AclLevel): Scope | undefined {
  const ids = resolveGrant(caller.permissions, aclClass, level)
  if (ids !== 'any' && ids.length === 0) return undefined
  return {
    ...proven,
    caller,
    applicationId: caller.everyApplication ? 'any' : caller.applicationId,
    ids,
    ownerId: caller.type === 'user' ? caller.userId : null,
  }
}

/** Whether a scope grants a record by its id. Of users' keys, whose records they see is another question. */
export const reachesId = (scope: Pick<Scope, 'ids'> | undefined, id: string): boolean =>
  scope !== undefined && (scope.ids === 'any' || scope.ids.includes(id))

/** Whether a scope grants a record of its application that was read already: `reach()` for one that needs no query. */
export const reachesRecord = (
  scope: Scope | undefined,
  { id, ownerId }: { id: string; ownerId: number | null },
): boolean => scope !== undefined && reachesId(scope, id) && (scope.ownerId === null || scope.ownerId === ownerId)

/** The scope of a request, or 401. It looks at the ACL only, never at a row, so the answer tells nothing about rows. */
export function authorize(
  caller: Caller,
  access: { class: AclClass; level: AclLevel; master?: boolean },
  id: string | undefined,
): Scope {
  if (access.master && caller.type !== 'master') throw denied('This operation needs a master key.')
  const scope = scopeOf(caller, access.class, access.level)
  if (!scope || (id !== undefined && !reachesId(scope, id))) {
    const level = access.level === 'append' ? 'append or write' : access.level
    throw denied(`The key does not grant ${level} access to ${access.class}${id === undefined ? '' : ' here'}.`)
  }
  return scope
}

export const withTrail = (scope: Scope, trail: Trail): Scope => ({ ...scope, trail })

/** The part of a scope that the caller reaches at this level too, or 401. */
export function alsoAt(scope: Scope, aclClass: AclClass, level: AclLevel): Scope {
  const other = authorize(scope.caller, { class: aclClass, level }, undefined)
  if (other.ids === 'any') return scope
  if (scope.ids === 'any') return { ...scope, ids: other.ids }
  const ids = new Set(scope.ids)
  return { ...scope, ids: other.ids.filter((id) => ids.has(id)) }
}

/** Making a row needs the wildcard: a list of ids cannot name a row that does not exist yet. */
export function demandAnyId(scope: Scope): void {
  if (scope.ids !== 'any')
    throw denied('The key is limited to listed ids, so it cannot create. Use one whose permissions have "*".')
}

export function denied(detail: string): ApiError {
  return new ApiError('unauthorized', detail)
}

/** The fields of a key that decide what it may do. */
export type Power = Pick<Caller, 'type' | 'applicationId' | 'permissions' | 'userId' | 'expiresAt' | 'allowedOrigins'>

/**
 * Does `outer` allow all that `inner` does? Decides which keys a caller may see, delete and create (no privilege
 * escalation).
 */
export const includesPower = (outer: Power, inner: Power): boolean => excessOf(outer, inner) === undefined

/** In what the inner power goes beyond the outer one: the first of these. */
export function excessOf(outer: Power, inner: Power): 'reach' | 'permissions' | 'life' | 'origins' | undefined {
  if (!reaches(outer, inner)) return 'reach'
  if (!grantsInclude(outer.permissions, inner.permissions)) return 'permissions'
  const isShorter = outer.expiresAt === null || (inner.expiresAt !== null && inner.expiresAt <= outer.expiresAt)
  if (!isShorter) return 'life'
  return includesOrigins(outer.allowedOrigins, inner.allowedOrigins) ? undefined : 'origins'
}

function reaches(outer: Power, inner: Power): boolean {
  if (outer.type === 'master') return true
  if (keyTypes.indexOf(inner.type) > keyTypes.indexOf(outer.type)) return false
  if (outer.applicationId !== inner.applicationId) return false
  return outer.type === 'app' || outer.userId === inner.userId
}

function includesOrigins(outer: readonly string[] | null, inner: readonly string[] | null): boolean {
  if (outer === null) return true
  return inner?.every((origin) => outer.includes(origin)) ?? false
}

/** The user who asks, or 401. */
export function bearerOf({ bearer }: Caller): Bearer {
  if (!bearer) throw denied('An access token is required: send it as Authorization: Bearer TOKEN.')
  return bearer
}
