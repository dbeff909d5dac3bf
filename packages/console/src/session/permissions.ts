/** Evaluates an ACL by the server's rule: the most specific entry wins; entries are not combined. */
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
export const aclLevels = ['read', 'write', 'execute'] as const

export type AclClass = (typeof aclClasses)[number]
export type AclLevel = (typeof aclLevels)[number]
export type Permissions = Record<string, Record<string, '*' | string[]>>

/** The deciding entry with its place in the ACL; null if there is none, which grants nothing. */
export function decidingEntry(
  permissions: Permissions,
  aclClass: string,
  level: string,
): { aclClass: string; level: string; ids: '*' | string[] } | null {
  const places = [
    [aclClass, level],
    [aclClass, '*'],
    ['*', level],
    ['*', '*'],
  ] as const
  for (const [classPlace, levelPlace] of places) {
    const ids = permissions[classPlace]?.[levelPlace]
    if (ids !== undefined) return { aclClass: classPlace, level: levelPlace, ids }
  }
  return null
}

/** Without an id: whether anything at all is granted. */
export function isGranted(permissions: Permissions, aclClass: AclClass, level: AclLevel, id?: string): boolean {
  const ids = decidingEntry(permissions, aclClass, level)?.ids ?? []
  if (ids === '*' || ids.includes('*')) return true
  return id === undefined ? ids.length > 0 : ids.includes(id)
}
