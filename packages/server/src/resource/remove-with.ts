import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../db/db.ts'
import type { Sql } from '../db/sql.ts'
import { ApiError } from '../errors.ts'
import { refusalOf } from './refusal.ts'
import type { Removing } from './resource.ts'

const attempts = 5

/** Deletes a record with what goes with it, in one transaction. What others read is waited for, but not for ever. */
export async function removeWith(
  db: Db,
  lock: Sql,
  deletion: Sql,
  removing: Removing,
): Promise<{ count: number; finish?: (() => Promise<void>) | undefined }> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction(async (tx) => {
        if ((await tx.query(lock)).length === 0) return { count: 0 }
        const finish = await removing(tx)
        return { count: (await tx.query(deletion)).length, finish }
      })
    } catch (error) {
      if (!isLocked(error)) refusalOf(error)
      if (attempt === attempts) throw inUse(error)
      await sleep(100 * attempt)
    }
  }
}

/** `lock_timeout`, where the transaction has one. */
const isLocked = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === '55P03'

const inUse = (cause: unknown): ApiError =>
  new ApiError('conflict', 'The data are being read just now, so they cannot be deleted. Try again in a moment.', {
    cause,
  })
