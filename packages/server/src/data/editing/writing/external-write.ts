// A write in a database of the application's own, and its entry in the change log, which is in the platform's database.

import type { Db } from '../../../kernel/db/db.ts'
import { ApiError } from '../../../kernel/errors.ts'
import {
  anyChange,
  type Intent,
  isFollowed,
  logChanges,
  noteIntent,
  tellIntent,
  withdrawIntent,
} from '../../changes/external-log.ts'
import type { TableName } from '../../databases/postgres/introspect.ts'
import type { EditTable } from './edit-table.ts'
import type { EditTransaction } from './edit-transaction.ts'
import { createWrittenRows } from './written-rows.ts'

type Platform = { readonly platform: Db; onError(error: unknown): void }

/** For so long it is believed that nobody follows a table; less than intents wait until they count as abandoned. */
const beliefMs = 30_000
/** A process that is halted must not commit when its intent counts as abandoned. */
const idleLimit = `SET LOCAL idle_in_transaction_session_timeout = '30s'`

/**
 * Runs a write in one transaction. If somebody follows the table, what will be told is noted before the commit, and told after it; a write
 * that cannot be noted is refused. If the answer to COMMIT is lost, the intent stays and is told later, because it may have happened.
 */
export async function transactExternal<T>(
  { platform, onError }: Platform,
  table: EditTable,
  write: (tx: EditTransaction) => Promise<T>,
): Promise<T> {
  const { standIn } = table
  if (!standIn) return table.db.transaction(write)
  const telling = await beginTelling(platform, standIn)
  try {
    const result = await table.db.transaction(async (tx) => {
      // After a deadlock it runs again.
      await telling.withdraw().catch(onError)
      await tx.script(idleLimit)
      const written = telling.isFollowed ? createWrittenRows(table) : undefined
      const done = await write({ ...tx, written })
      await telling.note(written?.changes ?? anyChange)
      return done
    })
    await telling.tell().catch(onError)
    return result
  } catch (error) {
    if (!telling.isNoted || isRolledBack(error)) await telling.withdraw().catch(onError)
    throw error
  }
}

type Changes = Parameters<typeof noteIntent>[2]

/** What the change log is told of one write. */
async function beginTelling(platform: Db, standIn: TableName) {
  const begun = performance.now()
  let followed = await demanded(isFollowed(platform, standIn))
  let intent: Intent | undefined
  let isNoted = false
  return {
    get isFollowed() {
      return followed
    },
    /** COMMIT may have been sent. */
    get isNoted() {
      return isNoted
    },
    async note(changes: Changes): Promise<void> {
      if (!followed && performance.now() - begun > beliefMs) followed = await demanded(isFollowed(platform, standIn))
      if (followed && changes.length > 0) intent = await demanded(noteIntent(platform, standIn, changes))
      isNoted = true
    },
    async withdraw(): Promise<void> {
      const last = intent
      intent = undefined
      isNoted = false
      if (last) await withdrawIntent(platform, last)
    },
    /** After the commit. Somebody may have begun to follow while the write was under way. */
    async tell(): Promise<void> {
      if (intent) await tellIntent(platform, intent)
      else if (!followed) await logChanges(platform, standIn, anyChange)
    },
  }
}

const demanded = <T>(step: Promise<T>): Promise<T> =>
  step.catch((cause) => {
    const detail = 'The change could not be noted for those who follow the table, so nothing was written. Try again.'
    throw new ApiError('unavailable', detail, { headers: { 'Retry-After': '2' }, cause })
  })

/** COMMIT was answered with an error of the server. Otherwise the connection was lost, and nobody knows. */
const isRolledBack = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(?=.*\d)[0-9A-Z]{5}$/.test(String(error.code))
