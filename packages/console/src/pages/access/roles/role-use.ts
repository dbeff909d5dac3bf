/** How many users have which role, by name, declared or not. */
import type { Role, User } from '@graticule/client'
import { formatNumber } from '../../../format.ts'

export interface RoleUse {
  readonly counts: ReadonlyMap<string, number>
  /** There are more users than were counted. */
  readonly isPartial: boolean
}

export function roleUseOf(users: readonly Pick<User, 'roles'>[], isPartial: boolean): RoleUse {
  const counts = new Map<string, number>()
  for (const { roles } of users) for (const name of new Set(roles)) counts.set(name, (counts.get(name) ?? 0) + 1)
  return { counts, isPartial }
}

/** "3 users", "nobody" */
export function usersWith(name: string, { counts, isPartial }: RoleUse): string {
  const count = counts.get(name) ?? 0
  const users = `${formatNumber(count)} ${count === 1 ? 'user' : 'users'}`
  if (isPartial) return `at least ${users}`
  return count === 0 ? 'nobody' : users
}

/** The names that users have and nobody declared, in order. */
export function undeclaredNames(roles: readonly Pick<Role, 'name'>[], { counts }: RoleUse): string[] {
  const declared = new Set(roles.map(({ name }) => name))
  return [...counts.keys()].filter((name) => !declared.has(name)).toSorted((one, other) => one.localeCompare(other))
}
