// Checks that datasets still exist, that their listeners may see them, and that their tables are logged without a gap.
import { isDeepStrictEqual } from 'node:util'
import type { Db } from '../../kernel/db/db.ts'
import { ApiError, isNotFound } from '../../kernel/errors.ts'
import { isStandIn } from '../databases/stand-in.ts'
import type { Dataset } from '../datasets/dataset-record.ts'
import { findDatasets } from '../datasets/find-dataset.ts'
import { readRevisions, readStates, revisionOf, type TableState } from './change-log.ts'
import { frameOf } from './coalesce.ts'
import { tryToFollow } from './follow.ts'
import { type LogPosition, writeEventId } from './position.ts'
import { broadcast, endAll, errorFrame, followableTable, refused, type Topic, toEverybody } from './topic.ts'

/** How often it is noted that a table is still followed; it is let go of after the retention of the log. */
const renewMs = 600_000
/** A table that somebody drops and makes anew is waited for. */
const missingMs = 10_000

export async function checkTopics(db: Db, topics: readonly Topic[], position: LogPosition): Promise<void> {
  const revisions = await readRevisions(
    db,
    topics.map(({ dataset }) => dataset.id),
  )
  const isChanged = ({ dataset }: Topic): boolean => revisions.get(dataset.id) !== revisionOf(dataset)
  await checkRecords(db, topics.filter(isChanged))
  const states = await readStates(
    db,
    topics.map(({ table }) => table),
  )
  for (const [index, topic] of topics.entries()) await checkTable(db, topic, states[index], position)
}

/** The records of datasets that were changed or deleted. */
async function checkRecords(db: Db, topics: readonly Topic[]): Promise<void> {
  if (topics.length === 0) return
  const datasets = await findDatasets(
    db,
    topics.map(({ dataset }) => dataset.id),
  )
  const byId = new Map(datasets.map((dataset) => [dataset.id, dataset]))
  for (const topic of topics) {
    const dataset = byId.get(topic.dataset.id)
    if (dataset) await checkRecord(topic, dataset)
    else endAll(topic, new ApiError('not_found', 'The dataset was deleted.'))
  }
}

async function checkRecord(topic: Topic, dataset: Dataset): Promise<void> {
  topic.dataset = dataset
  await orEnd(topic, () => {
    topic.table = followableTable(dataset)
  })
  // Its owner may be another now.
  await Promise.all(
    [...topic.subscribers].map(({ listener, recheck }) =>
      recheck().catch((error) => {
        if (isNotFound(error) || isRuleRefused(error)) listener.end(errorFrame(error))
      }),
    ),
  )
}

const isRuleRefused = (error: unknown): error is ApiError => error instanceof ApiError && error.code === 'rule_refused'

async function checkTable(db: Db, topic: Topic, state: TableState | undefined, position: LogPosition): Promise<void> {
  if (topic.subscribers.size === 0) return
  const now = performance.now()
  if (!state && !isStandIn(topic.table)) {
    topic.missingSince ??= now
    if (now - topic.missingSince > missingMs) endAll(topic, refused('its table no longer exists.'))
    return
  }
  topic.missingSince = undefined
  const isSame = state?.era === topic.state.era && isDeepStrictEqual(state, topic.state)
  if (isSame && now - topic.followedAt < renewMs) return
  await orEnd(topic, async () => {
    const followed = await tryToFollow(db, topic.table)
    if (!followed) return
    topic.followedAt = now
    const hasGap = followed.era !== topic.state.era
    topic.state = followed
    if (hasGap)
      broadcast(topic, toEverybody(resetFrame(topic, position, 'The table was replaced, or its columns have changed.')))
  })
}

/** An error that the client is told of ends its stream. */
async function orEnd(topic: Topic, work: () => void | Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    endAll(topic, error)
  }
}

/** Tells the client to read everything anew, and where to resume from then. */
export const resetFrame = ({ state }: Topic, position: LogPosition, reason: string): string =>
  frameOf('reset', JSON.stringify({ reason }), writeEventId(state.era, position))
