// Reads the changes of a binding from the log, page by page, into one batch.

import type { Db } from '../../kernel/db/db.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type LoggedChange, readLog, withoutRows } from '../changes/change-log.ts'
import { type Position, startOf } from '../changes/position.ts'
import type { FollowedState } from '../changes/topic.ts'
import type { Dataset } from '../datasets/dataset-record.ts'
import { type Batch, createBatch } from './batch.ts'
import type { ClaimedBinding } from './binding-rows.ts'
import { filterRows, type RowMeans } from './row-filter.ts'
import { isSelected } from './select-changes.ts'

export type ReadMeans = RowMeans & { readonly db: Db }

export type Reading = {
  readonly position: Position
  /** Everything up to the end of the log is read. */
  readonly isLast: boolean
  readonly batch?: Batch
  /** Why rows were not filtered. */
  readonly problem?: string | undefined
}

type Subject = { readonly claimed: ClaimedBinding; readonly dataset: Dataset; readonly state: FollowedState }

/** What is not read by then comes with the next delivery. */
const readMs = 30_000

/** All that was written since the last delivery. */
export async function readBatch(means: ReadMeans, subject: Subject, signal: AbortSignal): Promise<Reading> {
  const { claimed, state } = subject
  const batch = createBatch()
  const end = performance.now() + readMs
  let { position } = claimed
  let isLast = false
  let problem: string | undefined
  while (!isLast && performance.now() < end) {
    signal.throwIfAborted()
    const page = await readLog(means.db, state.relations, position)
    const selected = await selectChanges(means, subject, page.changes, signal)
    for (const change of selected.changes) batch.add(change)
    problem ??= selected.problem
    ;({ position, isLast } = page)
  }
  return { position, isLast, batch, problem }
}

type Selected = { readonly changes: readonly LoggedChange[]; readonly problem?: string }

async function selectChanges(
  means: ReadMeans,
  { claimed, dataset, state }: Subject,
  changes: readonly LoggedChange[],
  signal: AbortSignal,
): Promise<Selected> {
  const shown = state.isSecured ? changes.map(withoutRows) : changes
  const selected = shown.filter((change) => isSelected(change, claimed))
  if (claimed.filter === null || selected.length === 0) return { changes: selected }
  try {
    return { changes: await filterRows(means, dataset, claimed.filter, selected, signal) }
  } catch (error) {
    if (!(error instanceof ApiError) || isPassing(error)) throw error
    // Telling too much is better than telling nothing.
    return { changes: selected, problem: `The filter could not be applied: ${error.message}` }
  }
}

const isPassing = ({ status }: ApiError): boolean => status === 429 || status >= 500

/** The end of the log if nothing was written, so that a silent table does not fall behind what is kept. */
export async function unreadEnd(db: Db, { position }: ClaimedBinding, { relations }: FollowedState): Promise<Reading> {
  const page = await readLog(db, relations, position)
  return { position: page.changes.length === 0 ? page.position : position, isLast: true }
}

export async function endOfLog(db: Db): Promise<Position> {
  return (await readLog(db, [], startOf(0n))).position
}
