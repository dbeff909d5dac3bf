/** Warnings about a new key: more permissions than probably intended, or entries without effect. */
import { type AclClass, type AclLevel, aclClasses, aclLevels } from '../../../../../server/src/api/access/grants.ts'
import { hasEffect, isInherited, type Matrix, matrixOf } from '../acl/acl-matrix.ts'
import { classTitle, countOf, list } from '../acl/acl-sentence.ts'
import type { KeyDraft } from './key-draft.ts'

/** The existing ids by class; classes that could not be listed are missing. */
export type ExistingIds = Partial<Record<AclClass, ReadonlySet<string>>>

export function warningsOf(draft: KeyDraft, ids: ExistingIds): string[] {
  const matrix = matrixOf(draft.permissions)
  return [...powerWarnings(draft, matrix), ...masterWarnings(draft), ...grantWarnings(draft, ids)]
}

/** Of the ACL alone, also where it is that of a role. */
export function grantWarnings(grants: Pick<KeyDraft, 'type' | 'permissions'>, ids: ExistingIds): string[] {
  const matrix = matrixOf(grants.permissions)
  return [...escalationWarnings(matrix), ...effectWarnings(grants, matrix), ...absentWarnings(matrix, ids)]
}

const changed = (matrix: Matrix): AclClass[] =>
  aclClasses.filter((one) => hasEffect(one, 'write') && matrix[one].write !== 'none')

function powerWarnings({ origins, expiry }: KeyDraft, matrix: Matrix): string[] {
  const writes = changed(matrix)
  const what = writes.length > 4 ? 'data' : list(writes.map((one) => classTitle(one).toLowerCase()))
  if (writes.length === 0) {
    return origins.length === 0 ? ['No allowed origins: anybody who sees this key can use it from anywhere.'] : []
  }
  return [
    ...(origins.length > 0 ? [`Everybody who opens a page of these origins can change ${what}.`] : []),
    ...(expiry === 'never' ? [`May change ${what} and never expires. Give it an end, and replace it in time.`] : []),
  ]
}

const masterWarnings = ({ type }: KeyDraft): string[] =>
  type === 'master' ? ['A master key reaches every application. Never put it into a page or an app.'] : []

function escalationWarnings(matrix: Matrix): string[] {
  const may = (aclClass: AclClass): boolean => matrix[aclClass].write !== 'none'
  return [
    ...(may('apikeys') ? ['May make further keys as powerful as itself, and delete keys.'] : []),
    ...(may('applications') ? ['May change the sign-up rules and where mail may lead.'] : []),
    ...(may('users') ? ['May set passwords of users, and so sign in as them.'] : []),
  ]
}

function effectWarnings({ type }: Pick<KeyDraft, 'type'>, matrix: Matrix): string[] {
  const own = aclClasses.flatMap((aclClass) =>
    aclLevels
      .filter((level) => matrix[aclClass][level] !== 'none' && !isInherited(matrix, aclClass, level))
      .map((level) => ({ aclClass, level })),
  )
  const idle = own.filter(({ aclClass, level }) => !hasEffect(aclClass, level))
  const isOutbox = ({ aclClass, level }: { aclClass: AclClass; level: AclLevel }) =>
    aclClass === 'auth' && level === 'read' && type !== 'master'
  const limited = own.filter(({ aclClass, level }) => level === 'write' && Array.isArray(matrix[aclClass].write))
  return [
    ...idle.map(({ aclClass, level }) => `${aclClass}.${level} has no effect: no operation asks for it.`),
    ...own.filter(isOutbox).map(() => 'auth.read has no effect: only master keys read the outbox.'),
    ...limited.map(({ aclClass }) => `${aclClass}.write lists ids: those can be changed, but none can be made.`),
  ]
}

function absentWarnings(matrix: Matrix, idsOf: ExistingIds): string[] {
  return aclClasses.flatMap((aclClass) =>
    aclLevels.flatMap((level) => {
      const grant = matrix[aclClass][level]
      const ids = idsOf[aclClass]
      if (typeof grant === 'string' || !ids) return []
      const absent = grant.filter((id) => !ids.has(id)).length
      return absent > 0
        ? [
            `${aclClass}.${level} names ${countOf(aclClass, absent)} that this key cannot see or that ${absent === 1 ? 'does' : 'do'} not exist.`,
          ]
        : []
    }),
  )
}
