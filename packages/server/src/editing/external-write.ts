// A write in a database of the application's own, and its entry in the change log, which is in the platform's database.
import {
  anyChange,
  type Intent,
  isFollowed,
  logChanges,
  noteIntent,
  tellIntent,
  withdrawIntent,
} from '../changes/external-log.ts'
import type { TableName } from '../databases/postgres/introspect.ts'
import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import type { EditTable } from './edit-table.ts'
import type { EditTransaction } from './edit-transaction.ts'
import { createWrittenRows } from './written-rows.ts'

type Platform = { readonly platform: Db; onError(error: unknown): void }

/** For so long it is believed that nobody follows a table; less than intents wait until they count as abandoned. */
const beliefMs = 30_000
/** A process that is halted must not commit when its intent counts as abandoned. */
const idleLimit = `SET LOCAL idle_in_transaction_session_timeout = '30s'`

/**
 * Runs a write in one transaction. If somebody follows the table, what will be told is noted before the commit, and told after it; a write that
 * cannot be noted is refused. If the answer to COMMIT is lost, the intent stays and is told later, because it may have happened.
 */
export async function transactElsewhere<T>(
  { platform, onError }: Platform,
  table: EditTable,
  write: (tx: EditTransaction) => Promise<T>,
): Promise<T> {
  const { standIn } = table
  if (!standIn) return table.db.transaction(write)
  let isTold = await demanded(isFollowed(platform, standIn))
  let intent: Intent | undefined
  let isCommitting = false
  const withdraw = async (): Promise<void> => {
    isCommitting = false
    if (intent) await withdrawIntent(platform, intent).catch(onError)
    intent = undefined
  }
  const attempt = async (tx: EditTransaction): Promise<T> => {
    // After a deadlock it runs again.
    await withdraw()
    const begun = performance.now()
    await tx.script(idleLimit)
    const written = isTold ? createWrittenRows(table) : undefined
    const result = await write({ ...tx, written })
    if (!isTold && performance.now() - begun > beliefMs) isTold = await demanded(isFollowed(platform, standIn))
    const changes = written?.changes ?? anyChange
    if (isTold && changes.length > 0) intent = await demanded(noteIntent(platform, standIn, changes))
    isCommitting = true
    return result
  }
  try {
    const result = await table.db.transaction(attempt)
    await tell(platform, standIn, intent, isTold).catch(onError)
    return result
  } catch (error) {
    if (!isCommitting || isRolledBack(error)) await withdraw()
    throw error
  }
}

/** Somebody may have begun to follow while the write was under way. */
async function tell(platform: Db, standIn: TableName, intent: Intent | undefined, isTold: boolean): Promise<void> {
  if (intent) await tellIntent(platform, intent)
  else if (!isTold) await logChanges(platform, standIn, anyChange)
}

const demanded = <T>(step: Promise<T>): Promise<T> =>
  step.catch((cause) => {
    throw new ApiError(
      'unavailable',
      'The change could not be noted for those who follow the table, so nothing was written. Try again.',
      {
        headers: { 'Retry-After': '2' },
        cause,
      },
    )
  })

/** COMMIT was answered with an error of the server. Otherwise the connection was lost, and nobody knows. */
const isRolledBack = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(?=.*\d)[0-9A-Z]{5}$/.test(String(error.code))
