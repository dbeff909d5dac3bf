// Begins to follow a table, and waits for writers who hold its lock.
import { linear, poll } from '../../kernel/concurrency/retry.ts'
import { codeOf, isPassing, isTableChanged } from '../../kernel/db/database-error.ts'
import type { Db } from '../../kernel/db/db.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { TableName } from '../databases/postgres/introspect.ts'
import { isStandIn } from '../databases/stand-in.ts'
import type { Dataset } from '../datasets/dataset-record.ts'
import { followTable, readStates } from './change-log.ts'
import { followStandIn } from './external-log.ts'
import { demandFollowable, type FollowedState, followableTable, refused, type Topic } from './topic.ts'

const pace = { tries: 5, pauseMs: linear(200) }

const isForbidden = (error: unknown): boolean => codeOf(error) === '42501'
/** Of a table that is dropped in the same moment only the number is left, which is no name. */
const droppedMeanwhile = '42601'
/** The lock of the table, or of a row of the catalog that somebody else changes in the same moment. */
const isForLater = (error: unknown): boolean =>
  isPassing(error) || isTableChanged(error) || codeOf(error) === droppedMeanwhile

export async function openTopic(db: Db, dataset: Dataset): Promise<Topic> {
  const table = followableTable(dataset)
  return { dataset, table, state: await follow(db, table), subscribers: new Set(), followedAt: performance.now() }
}

/** Triggers are created while no transaction is writing to the table, so nothing that comes later is missed. */
async function follow(db: Db, table: TableName): Promise<FollowedState> {
  const state = await poll(() => tryToFollow(db, table), pace)
  if (state) return state
  throw new ApiError(
    'unavailable',
    'A transaction that writes to the table holds its lock, so its changes cannot be followed yet. Try again shortly.',
    { headers: { 'Retry-After': '5' } },
  )
}

/** Undefined if the table is locked. */
export async function tryToFollow(db: Db, table: TableName): Promise<FollowedState | undefined> {
  const isExternal = isStandIn(table)
  if (!isExternal) demandFollowable((await readStates(db, [table]))[0])
  try {
    await (isExternal ? followStandIn(db, table) : followTable(db, table))
  } catch (error) {
    if (isForbidden(error)) throw refused('the server may not create triggers on its table.')
    if (!isForLater(error)) throw error
    return undefined
  }
  const state = demandFollowable((await readStates(db, [table]))[0])
  return state.era === null ? undefined : { ...state, era: state.era }
}
