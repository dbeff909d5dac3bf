/** Evaluates an ACL by the server's rule: the most specific entry wins; entries are not combined. `write` includes `append`. */
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
export type Permissions = Record<string, Record<string, '*' | string[]>>

/** Whether a class has a level: `append` adds rows, and only datasets have rows. The row `*` has every level. */
export const hasLevel = (aclClass: string, level: string): boolean =>
  level !== 'append' || aclClass === 'datasets' || aclClass === '*'

interface Entry {
  aclClass: string
  level: string
  ids: '*' | string[]
}

/**
 * The deciding entry with its place in the ACL; null if there is none, which grants nothing. Of `append` this is an entry of
 * its own, beside what `write` grants.
 */
export function decidingEntry(permissions: Permissions, aclClass: string, level: string): Entry | null {
  const places = [
    [aclClass, level],
    [aclClass, '*'],
    ['*', level],
    ['*', '*'],
  ] as const
  const entry = firstEntry(permissions, places)
  // The level * grants append only as a part of write.
  return level === 'append' && entry?.level === '*' ? null : entry
}

function firstEntry(permissions: Permissions, places: readonly (readonly [string, string])[]): Entry | null {
  for (const [classPlace, levelPlace] of places) {
    const ids = permissions[classPlace]?.[levelPlace]
    if (ids !== undefined) return { aclClass: classPlace, level: levelPlace, ids }
  }
  return null
}

/** The ids that are granted. */
export function grantedIds(permissions: Permissions, aclClass: string, level: string): '*' | readonly string[] {
  const ids = decidingEntry(permissions, aclClass, level)?.ids ?? []
  if (level !== 'append') return ids
  const written = grantedIds(permissions, aclClass, 'write')
  return ids === '*' || written === '*' ? '*' : [...new Set([...ids, ...written])]
}

/** Without an id: whether anything at all is granted. */
export function isGranted(permissions: Permissions, aclClass: AclClass, level: AclLevel, id?: string): boolean {
  const ids = grantedIds(permissions, aclClass, level)
  if (ids === '*' || ids.includes('*')) return true
  return id === undefined ? ids.length > 0 : ids.includes(id)
}
