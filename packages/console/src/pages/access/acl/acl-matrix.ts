/**
 * An ACL as a matrix of classes and levels. Each cell has the effective grant, whichever entry decides; the row `*` applies
 * to classes without their own entry, including future ones.
 */
import {
  type AclClass,
  type AclLevel,
  aclClasses,
  aclLevels,
  hasLevel,
  type Permissions,
  resolveGrant,
} from '../../../../../server/src/api/access/grants.ts'

/** What a cell shows. */
export type LevelGrant = 'none' | 'all' | readonly string[]
export type AclRow = '*' | AclClass
export type Matrix = Readonly<Record<AclRow, Readonly<Record<AclLevel, LevelGrant>>>>

const aclRows: readonly AclRow[] = ['*', ...aclClasses]

export const matrixOf = (permissions: Permissions): Matrix =>
  record(aclRows, (row) =>
    record(aclLevels, (level) => (hasLevel(row, level) ? grantOf(resolveGrant(permissions, row, level)) : 'none')),
  )

function grantOf(ids: 'any' | readonly string[]): LevelGrant {
  if (ids === 'any') return 'all'
  return ids.length === 0 ? 'none' : [...new Set(ids)]
}

/** Those that every class has; `append` follows from `write` unless it is granted beyond that. */
const commonLevels = aclLevels.filter((level) => level !== 'append')

/** The minimal ACL for a matrix: only classes that differ from the row `*` get an entry. */
export function permissionsOf(matrix: Matrix): Permissions {
  const permissions: Record<string, Permissions[string]> = {}
  for (const row of aclRows) {
    const inherited = (level: AclLevel): LevelGrant => (row === '*' ? 'none' : matrix['*'][level])
    const own = commonLevels.filter((level) => !isSameGrant(matrix[row][level], inherited(level)))
    const isEverything = own.length === commonLevels.length && own.every((level) => matrix[row][level] === 'all')
    const entries = Object.fromEntries(own.map((level) => [level, idsOf(matrix[row][level])]))
    if (own.length > 0) permissions[row] = isEverything ? { '*': '*' } : entries
    const { append } = matrix[row]
    if (hasLevel(row, 'append') && !isSameGrant(grantOf(resolveGrant(permissions, row, 'append')), append))
      permissions[row] = { ...permissions[row], append: idsOf(append) }
  }
  return permissions
}

function idsOf(grant: LevelGrant): '*' | string[] {
  if (grant === 'all') return '*'
  return grant === 'none' ? [] : [...grant]
}

/** Changes a cell. A change of the row `*` also changes the classes that had the same grant. */
export function withCell(matrix: Matrix, row: AclRow, level: AclLevel, grant: LevelGrant): Matrix {
  const before = matrix[row][level]
  const isChanged = (other: AclRow): boolean =>
    other === row || (row === '*' && hasLevel(other, level) && isSameGrant(matrix[other][level], before))
  return record(aclRows, (other) => (isChanged(other) ? withLevel(matrix[other], other, level, grant) : matrix[other]))
}

/** `write` includes `append`, which changes with it while it is the same. */
function withLevel(levels: Matrix[AclRow], row: AclRow, level: AclLevel, grant: LevelGrant): Matrix[AclRow] {
  if (level === 'append') return { ...levels, append: unionOf(levels.write, grant) }
  if (level !== 'write' || !hasLevel(row, 'append')) return { ...levels, [level]: grant }
  const { append, write } = levels
  return { ...levels, write: grant, append: isSameGrant(append, write) ? grant : unionOf(append, grant) }
}

function unionOf(one: LevelGrant, other: LevelGrant): LevelGrant {
  if (one === 'all' || other === 'all') return 'all'
  return grantOf([...idsOf(one), ...idsOf(other)])
}

/** Whether `append` is granted by `write` alone. */
export const isPartOfWrite = (matrix: Matrix, row: AclRow, level: AclLevel): boolean =>
  level === 'append' && matrix[row].write !== 'none' && isSameGrant(matrix[row].append, matrix[row].write)

/** The next state after a click: nothing → all → the selected resources, if any → nothing. */
export function nextGrant(grant: LevelGrant, chosen: readonly string[]): LevelGrant {
  if (grant === 'none') return 'all'
  return grant === 'all' && chosen.length > 0 ? chosen : 'none'
}

/** Whether a class inherits the grant from the row `*`. */
export const isInherited = (matrix: Matrix, row: AclRow, level: AclLevel): boolean =>
  row !== '*' && isSameGrant(matrix[row][level], matrix['*'][level])

export function isSameGrant(one: LevelGrant, other: LevelGrant): boolean {
  if (typeof one === 'string' || typeof other === 'string') return one === other
  const ids = new Set(one)
  return ids.size === new Set(other).size && other.every((id) => ids.has(id))
}

/** Levels that no operation of the class requires. `auth` read is only for the outbox, which needs a master key. */
const idle: readonly string[] = ['apikeys execute', 'applications execute', 'auth write', 'users execute']

export const hasEffect = (aclClass: string, level: string): boolean =>
  hasLevel(aclClass, level) && !idle.includes(`${aclClass} ${level}`)

function record<Key extends string, Value>(keys: readonly Key[], make: (key: Key) => Value): Record<Key, Value> {
  return Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<Key, Value>
}
