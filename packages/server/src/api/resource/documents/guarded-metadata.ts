/**
 * Metadata with protected keys: not every writer may change `auth` of users and applications. Writes read the stored
 * metadata, ask the guard for the new ones, and store those unless somebody else wrote in between (optimistic concurrency).
 */

import { json } from '../../../kernel/db/sql.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { Scope } from '../../access/acl.ts'
import type { BaseServices, Entity, EntityDraft } from '../resource.ts'
import { foreseeJson, untilWritten, updateJson } from '../store.ts'
import type { MetadataWriter } from './metadata.ts'

export type GuardedChange = {
  /** Empty for a new record. */
  readonly before: Entity
  readonly after: Entity
  readonly isNew: boolean
  /** Of the record; empty for a new application. */
  readonly applicationId: string
  /** The top-level keys that the request names. */
  readonly named: readonly string[]
}

/** Returns the metadata to store, or throws. */
export type MetadataGuard<S> = (change: GuardedChange, scope: Scope, services: S) => Promise<Entity>

/** For `metadataOperations`. */
export const guardedWriter = <S extends BaseServices>(
  guard: MetadataGuard<S>,
  mergedKeys: readonly string[],
): MetadataWriter<S> => ({
  mergedKeys,
  write(store, scope, id, expected, { next, named }) {
    return untilWritten(async () => {
      const { revision, ...change } = await foreseeJson(store, scope, id, expected, { column: 'metadata', next })
      const guarded = json(await guard({ ...change, named, isNew: false }, scope, store.services))
      const at = { column: 'metadata', next: guarded }
      return updateJson(store, scope, id, [revision], at).catch(undefinedWhenChanged)
    })
  },
})

function undefinedWhenChanged(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.code !== 'precondition_failed') throw error
  return undefined
}

/** For `prepare`: the values of a draft, with the metadata that the guard makes of what they hold. */
export async function withGuardedMetadata(
  { values, previous, input, applicationId }: EntityDraft,
  guard: (change: GuardedChange) => Promise<Entity>,
): Promise<Entity> {
  if (values.metadata === undefined) return values
  const metadata = await guard({
    before: (previous?.metadata ?? {}) as Entity,
    after: values.metadata as Entity,
    isNew: previous === undefined,
    applicationId,
    named: Object.keys((input.metadata ?? {}) as Entity),
  })
  return { ...values, metadata }
}
