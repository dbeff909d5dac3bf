import type { TProperties } from 'typebox'
import { linear, retry } from '../../kernel/concurrency/retry.ts'
import { codeOf } from '../../kernel/db/database-error.ts'
import type { Db, Queryable } from '../../kernel/db/db.ts'
import type { Sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Scope } from '../access/acl.ts'
import { rethrowRefusal } from './constraint-errors.ts'
import type { BaseServices, Entity } from './resource.ts'

/** Customizes the deletion of records that have dependents. */
export type Removal<S extends BaseServices = BaseServices> = {
  /** Query parameters of DELETE. */
  readonly parameters?: TProperties
  /** Before the transaction: refuses, or prepares. If it returns undefined, only the row is deleted. */
  prepare(removed: Removed, services: S): Promise<RemovalWork | undefined>
}

type Removed = {
  readonly entity: Entity
  readonly query: Readonly<Record<string, unknown>>
  readonly scope: Scope
}

/** Runs in the transaction that deletes the locked record. Returns what is left to do after the commit. */
export type RemovalWork = (tx: Queryable) => Promise<(() => Promise<void>) | undefined>

/** `lock_timeout`, where the transaction has one. */
const isLocked = (error: unknown): boolean => codeOf(error) === '55P03'

const unlessLocked = { tries: 5, pauseMs: linear(100), isPassing: isLocked }

/** Deletes a record and its dependents in one transaction. Retries when readers hold a lock, a limited number of times. */
export async function removeWith(
  db: Db,
  lock: Sql,
  remove: (tx: Queryable) => Promise<number>,
  removing: RemovalWork,
): Promise<{ count: number; finish?: (() => Promise<void>) | undefined }> {
  const removeOnce = () =>
    db.transaction(async (tx) => {
      if ((await tx.query(lock)).length === 0) return { count: 0 }
      const finish = await removing(tx)
      return { count: await remove(tx), finish }
    })
  return retry(removeOnce, unlessLocked).catch((error) => {
    if (isLocked(error)) throw inUse(error)
    return rethrowRefusal(error)
  })
}

const inUse = (cause: unknown): ApiError =>
  new ApiError('conflict', 'The data are being read just now, so they cannot be deleted. Try again in a moment.', {
    cause,
  })
