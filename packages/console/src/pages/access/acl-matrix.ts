/**
 * An ACL as a matrix of classes and levels. Each cell has the effective grant, whichever entry decides; the row `*` applies
 * to classes without their own entry, including future ones.
 */
import {
  type AclClass,
  type AclLevel,
  aclClasses,
  aclLevels,
  decidingEntry,
  type Permissions,
} from '../../session/permissions.ts'

export type Grant = 'none' | 'all' | readonly string[]
export type AclRow = '*' | AclClass
export type Matrix = Readonly<Record<AclRow, Readonly<Record<AclLevel, Grant>>>>

const aclRows: readonly AclRow[] = ['*', ...aclClasses]

export const matrixOf = (permissions: Permissions): Matrix =>
  record(aclRows, (row) => record(aclLevels, (level) => grantOf(decidingEntry(permissions, row, level)?.ids ?? [])))

function grantOf(ids: '*' | readonly string[]): Grant {
  if (ids === '*' || ids.includes('*')) return 'all'
  return ids.length === 0 ? 'none' : [...new Set(ids)]
}

/** The minimal ACL for a matrix: only classes that differ from the row `*` get an entry. */
export function permissionsOf(matrix: Matrix): Permissions {
  const permissions: Permissions = {}
  for (const row of aclRows) {
    const inherited = (level: AclLevel): Grant => (row === '*' ? 'none' : matrix['*'][level])
    const own = aclLevels.filter((level) => !isSameGrant(matrix[row][level], inherited(level)))
    if (own.length === 0) continue
    const isEverything = own.length === aclLevels.length && own.every((level) => matrix[row][level] === 'all')
    permissions[row] = isEverything
      ? { '*': '*' }
      : Object.fromEntries(own.map((level) => [level, idsOf(matrix[row][level])]))
  }
  return permissions
}

function idsOf(grant: Grant): '*' | string[] {
  if (grant === 'all') return '*'
  return grant === 'none' ? [] : [...grant]
}

/** Changes a cell. A change of the row `*` also changes the classes that had the same grant. */
export function withCell(matrix: Matrix, row: AclRow, level: AclLevel, grant: Grant): Matrix {
  const before = matrix[row][level]
  const isChanged = (other: AclRow): boolean =>
    other === row || (row === '*' && isSameGrant(matrix[other][level], before))
  return record(aclRows, (other) => (isChanged(other) ? { ...matrix[other], [level]: grant } : matrix[other]))
}

/** The next state after a click: nothing → all → the selected resources, if any → nothing. */
export function nextGrant(grant: Grant, chosen: readonly string[]): Grant {
  if (grant === 'none') return 'all'
  return grant === 'all' && chosen.length > 0 ? chosen : 'none'
}

/** Whether a class inherits the grant from the row `*`. */
export const isInherited = (matrix: Matrix, row: AclRow, level: AclLevel): boolean =>
  row !== '*' && isSameGrant(matrix[row][level], matrix['*'][level])

export function isSameGrant(one: Grant, other: Grant): boolean {
  if (typeof one === 'string' || typeof other === 'string') return one === other
  const ids = new Set(one)
  return ids.size === new Set(other).size && other.every((id) => ids.has(id))
}

/** Levels that no operation of the class requires. `auth` read is only for the outbox, which needs a master key. */
const idle: readonly string[] = ['apikeys execute', 'applications execute', 'auth write', 'users execute']

export const hasEffect = (aclClass: string, level: string): boolean => !idle.includes(`${aclClass} ${level}`)

function record<Key extends string, Value>(keys: readonly Key[], make: (key: Key) => Value): Record<Key, Value> {
  return Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<Key, Value>
}
