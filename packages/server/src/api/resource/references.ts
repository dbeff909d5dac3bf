// References of records: fields that decide whose data a record leads to. Whoever changes one needs what creating the record
// with it needs, or a key for one record would reach all others through it; whoever leaves one as it is is asked nothing.
import { isDeepStrictEqual } from 'node:util'
import { denied, type Scope } from '../access/acl.ts'
import { isUuid } from '../access/credentials.ts'
import type { Entity } from './resource.ts'

/** Those of the named fields that get another value. All are new to a record that does not exist yet. */
export function changedOf(names: readonly string[], previous: Entity | undefined, next: Entity): readonly string[] {
  if (!previous) return names
  return names.filter((name) => next[name] !== undefined && !isSame(next[name], previous[name]))
}

function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'string' || !isUuid(one)) return isDeepStrictEqual(one, other)
  return one.toLowerCase() === String(other).toLowerCase()
}

/** Creating needs the wildcard (`demandAnyId`), so changing what a record leads to needs it too. */
export function demandRepointing(scope: Scope, changed: readonly string[], resources: string): void {
  if (scope.ids === 'any' || changed.length === 0) return
  throw denied(
    `The key is limited to listed ids, so it cannot change ${changed.join(', ')}: that needs what creating ${resources} needs. ` +
      'Use a key whose permissions have "*".',
  )
}
