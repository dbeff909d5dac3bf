// Reads the changes of a webhook from the log, page by page, into one batch.

import type { Db } from '../../kernel/db/db.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type LoggedChange, readLog, withoutRows } from '../changes/change-log.ts'
import { type LogPosition, startOf } from '../changes/position.ts'
import type { FollowedState } from '../changes/topic.ts'
import type { Dataset } from '../datasets/dataset-record.ts'
import { type ChangeBatch, createBatch } from './change-batch.ts'
import { filterRows, type RowFilterContext } from './row-filter.ts'
import { isSelected } from './select-changes.ts'
import type { ClaimedWebhook } from './webhook-rows.ts'

export type ReadContext = RowFilterContext & { readonly db: Db }

export type ChangeReading = {
  readonly position: LogPosition
  /** Everything up to the end of the log is read. */
  readonly isLast: boolean
  readonly batch?: ChangeBatch
  /** Why rows were not filtered. */
  readonly problem?: string | undefined
}

type Subject = { readonly claimed: ClaimedWebhook; readonly dataset: Dataset; readonly state: FollowedState }

/** What is not read by then comes with the next delivery. */
const readMs = 30_000

/** All that was written since the last delivery. */
export async function readBatch(context: ReadContext, subject: Subject, signal: AbortSignal): Promise<ChangeReading> {
  const { claimed, state } = subject
  const batch = createBatch()
  const end = performance.now() + readMs
  let { position } = claimed
  let isLast = false
  let problem: string | undefined
  while (!isLast && performance.now() < end) {
    signal.throwIfAborted()
    const page = await readLog(context.db, state.relations, position)
    const selected = await selectChanges(context, subject, page.changes, signal)
    for (const change of selected.changes) batch.add(change)
    problem ??= selected.problem
    ;({ position, isLast } = page)
  }
  return { position, isLast, batch, problem }
}

type Selected = { readonly changes: readonly LoggedChange[]; readonly problem?: string }

async function selectChanges(
  context: ReadContext,
  { claimed, dataset, state }: Subject,
  changes: readonly LoggedChange[],
  signal: AbortSignal,
): Promise<Selected> {
  const shown = state.isSecured ? changes.map(withoutRows) : changes
  const selected = shown.filter((change) => isSelected(change, claimed))
  if (claimed.filter === null || selected.length === 0) return { changes: selected }
  try {
    return { changes: await filterRows(context, dataset, claimed.filter, selected, signal) }
  } catch (error) {
    if (!(error instanceof ApiError) || isPassing(error)) throw error
    // Telling too much is better than telling nothing.
    return { changes: selected, problem: `The filter could not be applied: ${error.message}` }
  }
}

const isPassing = ({ status }: ApiError): boolean => status === 429 || status >= 500

/** The end of the log if nothing was written, so that a silent table does not fall behind what is kept. */
export async function unreadEnd(
  db: Db,
  { position }: ClaimedWebhook,
  { relations }: FollowedState,
): Promise<ChangeReading> {
  const page = await readLog(db, relations, position)
  return { position: page.changes.length === 0 ? page.position : position, isLast: true }
}

export async function endOfLog(db: Db): Promise<LogPosition> {
  return (await readLog(db, [], startOf(0n))).position
}
