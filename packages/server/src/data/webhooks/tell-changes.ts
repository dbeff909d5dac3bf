// Tells one webhook of its changes: reads the log behind its position, queues a delivery and moves on.

import type { Db, Queryable } from '../../kernel/db/db.ts'
import { ApiError } from '../../kernel/errors.ts'
import { report } from '../../kernel/events.ts'
import { readStates, readSwept } from '../changes/change-log.ts'
import { tryToFollow } from '../changes/follow.ts'
import { type LogPosition, versionOf, writeEventId } from '../changes/position.ts'
import { type FollowedState, followableTable } from '../changes/topic.ts'
import type { Dataset } from '../datasets/dataset-record.ts'
import { findDataset } from '../datasets/find-dataset.ts'
import { type ChangeReading, endOfLog, type ReadContext, readBatch, unreadEnd } from './read-changes.ts'
import { type ClaimedWebhook, lockPoint, moveWebhook, noteDelivery, postponeWebhook } from './webhook-rows.ts'

type ChangeMessage = {
  readonly severity: 'info'
  readonly event: { readonly type: string; readonly data: Readonly<Record<string, unknown>> }
}

/** The part of the outbox of contact points that changes use: it belongs to another wing. */
type ChangeDeliveries = {
  /** Queues a message in a transaction and returns the id of the delivery. To be announced after the commit. */
  put(tx: Queryable, contactPointId: string, message: ChangeMessage): Promise<string>
  /** Saves the wait for the next poll. */
  announce(): void
}

export type TellContext = ReadContext & { readonly deliveries: ChangeDeliveries }

/** After a failure, such as a table that is locked or a full queue of messages. */
const pauseSeconds = 10

/** Where a webhook stands then, and what is sent. */
type Outcome = ChangeReading & { readonly message?: ChangeMessage | undefined }

export async function tellChanges(context: TellContext, claimed: ClaimedWebhook, signal: AbortSignal): Promise<void> {
  try {
    await tell(context, claimed, signal)
  } catch (error) {
    if (signal.aborted) return postponeWebhook(context.db, claimed, 0)
    const isKnown = error instanceof ApiError
    await postponeWebhook(context.db, claimed, pauseSeconds, isKnown ? error.message : undefined)
    if (!isKnown) throw error
  }
}

async function tell(context: TellContext, claimed: ClaimedWebhook, signal: AbortSignal): Promise<void> {
  const { db } = context
  const dataset = await findDataset(db, claimed.applicationId, claimed.datasetId)
  if (!dataset) return postponeWebhook(db, claimed, pauseSeconds)
  const { state, isRenewed } = await followedState(db, dataset, claimed)
  const outcome = await outcomeOf(context, claimed, dataset, state, signal)
  const { message, position, isLast, problem = null } = outcome
  const pause = message && isLast ? claimed.debounceSeconds : 0
  await db.transaction(async (tx) => {
    await lockPoint(tx, claimed)
    const isHeld = await moveWebhook(tx, claimed, { state, isRenewed, position, problem, pauseSeconds: pause })
    if (isHeld && message)
      await noteDelivery(tx, claimed, await context.deliveries.put(tx, claimed.contactPointId, message))
  })
  if (!message) return
  context.deliveries.announce()
  report('changeDelivery', { type: message.event.type })
}

/** The state of the dataset's table, which is followed anew where it is another or has changed. */
async function followedState(db: Db, dataset: Dataset, { era, isFollowed }: ClaimedWebhook) {
  const table = followableTable(dataset)
  const [state] = await readStates(db, [table])
  if (isFollowed && state?.era === era) return { state: { ...state, era }, isRenewed: false }
  const followed = await tryToFollow(db, table)
  if (!followed) throw new ApiError('unavailable', 'The table is locked, so its changes cannot be followed yet.')
  return { state: followed, isRenewed: true }
}

async function outcomeOf(
  context: TellContext,
  claimed: ClaimedWebhook,
  dataset: Dataset,
  state: FollowedState,
  signal: AbortSignal,
): Promise<Outcome> {
  const { db } = context
  const { isDue, hasFailed, datasetId } = claimed
  const reset = async (reason: string): Promise<Outcome> => {
    const position = await endOfLog(db)
    return { position, isLast: true, message: resetMessage(datasetId, state.era, position, reason) }
  }
  if (state.era !== claimed.era) return reset('The table was replaced, or its columns have changed.')
  if (hasFailed) return reset('The delivery before this one failed.')
  const reading = isDue
    ? await readBatch(context, { claimed, dataset, state }, signal)
    : await unreadEnd(db, claimed, state)
  // What was deleted while it was read is missing too.
  if (claimed.position.xid <= (await readSwept(db)))
    return reset('The changes since the last delivery are no longer known.')
  const { batch } = reading
  if (!batch || batch.isEmpty) return reading
  return { ...reading, message: eventMessage('dataset.changed', batch.dataOf(datasetId, state.era)) }
}

const eventMessage = (type: string, data: Readonly<Record<string, unknown>>): ChangeMessage => ({
  severity: 'info',
  event: { type, data },
})

const resetMessage = (datasetId: string, era: string, position: LogPosition, reason: string): ChangeMessage =>
  eventMessage('dataset.reset', {
    datasetId,
    version: versionOf(position),
    reason,
    lastEventId: writeEventId(era, position),
  })
