import { ApiError } from '../../kernel/errors.ts'
import type { Trail } from './audit-trail.ts'

export const aclClasses = [
  'agents',
  'apikeys',
  'appconfig',
  'applications',
  'auth',
  'contactpoints',
  'databases',
  'datasets',
  'styles',
  'tiles',
  'uploads',
  'users',
] as const
export const aclLevels = ['read', 'append', 'write', 'execute'] as const
/** From the least to the most powerful. */
export const keyTypes = ['user', 'app', 'master'] as const

export type AclClass = (typeof aclClasses)[number]
export type AclLevel = (typeof aclLevels)[number]
export type KeyType = (typeof keyTypes)[number]

/** Whether a class has a level: `append` adds rows, and only datasets have rows. A class of the future has them all. */
export const hasLevel = (aclClass: string, level: string): boolean =>
  level !== 'append' || aclClass === 'datasets' || !(aclClasses as readonly string[]).includes(aclClass)

/** The ACL as it travels: `{class: {level: ids}}`, each of the three possibly `*`. */
export type Permissions = Readonly<Record<string, Readonly<Record<string, '*' | readonly string[]>>>>

/** The ids that an ACL grants for one class and level. An empty list grants nothing. */
export type Grant = 'any' | readonly string[]

/** The user and session of an access token. */
export type Bearer = { readonly userId: number; readonly sessionId: string }

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
  /** The invocation whose tool token stands in place of a key; it ends with the invocation. */
  readonly toolsOf?: { readonly invocationId: string; readonly agentId: string }
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

/** The first entry present wins, from the most to the least specific; entries are never added up. `write` includes `append`. */
export function resolveGrant(permissions: Permissions, aclClass: string, level: string): Grant {
  if (level === 'append') return resolveAppend(permissions, aclClass)
  return grantOf(
    entryOf(permissions, aclClass, level) ??
      entryOf(permissions, aclClass, '*') ??
      entryOf(permissions, '*', level) ??
      entryOf(permissions, '*', '*'),
  )
}

/**
 * What `write` grants, and an entry `append` besides. The level `*` grants `append` only as a part of `write`: a key that has
 * `*` but not `write` is older than `append`, and must not become able to add rows.
 */
function resolveAppend(permissions: Permissions, aclClass: string): Grant {
  const write = resolveGrant(permissions, aclClass, 'write')
  const isShadowed = entryOf(permissions, aclClass, '*') !== undefined
  const append = grantOf(
    entryOf(permissions, aclClass, 'append') ?? (isShadowed ? [] : entryOf(permissions, '*', 'append')),
  )
  if (write === 'any' || append === 'any') return 'any'
  return append.length === 0 ? write : [...new Set([...write, ...append])]
}

const grantOf = (entry: '*' | readonly string[] = []): Grant => (entry === '*' || entry.includes('*') ? 'any' : entry)

function entryOf(permissions: Permissions, aclClass: string, level: string): '*' | readonly string[] | undefined {
  const levels = own(permissions, aclClass)
  return levels && own(levels, level)
}

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

/** The scope of a request, or 401. It looks at the ACL only, never at a row, so the answer tells nothing about rows. */
export function authorize(
  caller: Caller,
  access: { class: AclClass; level: AclLevel; master?: boolean },
  id: string | undefined,
): Scope {
  if (access.master && caller.type !== 'master') throw denied('This operation needs a master key.')
  const scope = scopeOf(caller, access.class, access.level)
  if (!scope || (id !== undefined && scope.ids !== 'any' && !scope.ids.includes(id))) {
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

/**
 * Does `outer` grant all that `inner` grants? Decided by what the entries resolve to, not by how they are written.
 * A class that does not exist yet counts too: `*` is more than the list of today's classes.
 */
export function grantsInclude(outer: Permissions, inner: Permissions): boolean {
  // One list of ids may stand for all classes and levels: it is looked through once for each other list.
  const compared = new Map<readonly string[], Map<readonly string[], boolean>>()
  const includes = (wide: readonly string[], narrow: readonly string[]): boolean => {
    const results = compared.get(wide) ?? new Map<readonly string[], boolean>()
    compared.set(wide, results)
    const result = results.get(narrow) ?? new Set(narrow).isSubsetOf(new Set(wide))
    results.set(narrow, result)
    return result
  }
  return [...aclClasses, 'a class of the future'].every((aclClass) =>
    aclLevels.every((level) => {
      if (!hasLevel(aclClass, level)) return true
      const wide = resolveGrant(outer, aclClass, level)
      const narrow = resolveGrant(inner, aclClass, level)
      if (wide === 'any') return true
      return narrow !== 'any' && includes(wide, narrow)
    }),
  )
}

/** The fields of a key that decide what it may do. */
export type Power = Pick<Caller, 'type' | 'applicationId' | 'permissions' | 'userId' | 'expiresAt' | 'allowedOrigins'>

/**
 * Does `outer` allow all that `inner` does? Decides which keys a caller may see, delete and create (no privilege
 * escalation).
 */
export function includesPower(outer: Power, inner: Power): boolean {
  return (
    reaches(outer, inner) &&
    grantsInclude(outer.permissions, inner.permissions) &&
    (outer.expiresAt === null || (inner.expiresAt !== null && inner.expiresAt <= outer.expiresAt)) &&
    includesOrigins(outer.allowedOrigins, inner.allowedOrigins)
  )
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

function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

/** The user who asks, or 401. */
export function bearerOf({ bearer }: Caller): Bearer {
  if (!bearer) throw denied('An access token is required: send it as Authorization: Bearer TOKEN.')
  return bearer
}
