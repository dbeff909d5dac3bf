/**
 * What an ACL grants: its classes, its levels, and the rule by which entries decide. The console imports this file as it is, so it
 * imports nothing.
 */
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

export type AclClass = (typeof aclClasses)[number]
export type AclLevel = (typeof aclLevels)[number]

/** Whether a class has a level: `append` adds rows, and only datasets have rows. A class of the future has them all. */
export const hasLevel = (aclClass: string, level: string): boolean =>
  level !== 'append' || aclClass === 'datasets' || !(aclClasses as readonly string[]).includes(aclClass)

/** The ACL as it travels: `{class: {level: ids}}`, each of the three possibly `*`. */
export type Permissions = Readonly<Record<string, Readonly<Record<string, '*' | readonly string[]>>>>

const futureClass = 'a class of the future'

/** The ids that an ACL grants for one class and level. An empty list grants nothing. */
export type Grant = 'any' | readonly string[]

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
  const levels = valueAt(permissions, aclClass)
  return levels && valueAt(levels, level)
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
  return [...aclClasses, futureClass].every((aclClass) =>
    aclLevels.every((level) => {
      if (!hasLevel(aclClass, level)) return true
      const wide = resolveGrant(outer, aclClass, level)
      const narrow = resolveGrant(inner, aclClass, level)
      if (wide === 'any') return true
      return narrow !== 'any' && includes(wide, narrow)
    }),
  )
}

/** An ACL that grants what each of these grants, and nothing else. All is written out, since the most specific entry wins. */
export function unionOfGrants(all: readonly Permissions[]): Permissions {
  const entriesOf = (aclClass: string) => {
    const asked = aclClass === '*' ? futureClass : aclClass
    const levels = aclLevels.filter((level) => hasLevel(asked, level))
    return Object.fromEntries(
      levels.map((level) => {
        const grants = all.map((one) => resolveGrant(one, asked, level))
        return [level, grants.includes('any') ? '*' : [...new Set(grants.flat())]] as const
      }),
    )
  }
  return Object.fromEntries([...aclClasses, '*'].map((aclClass) => [aclClass, entriesOf(aclClass)]))
}

/** Whether two ACLs grant the same, however they are written. */
export const grantEqually = (one: Permissions, other: Permissions): boolean =>
  grantsInclude(one, other) && grantsInclude(other, one)

function valueAt<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}
