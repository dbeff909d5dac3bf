/**
 * The change feed of a process: one reader of the change log, and in memory a fan-out to the listeners of all datasets. It reads
 * only while somebody listens. It polls and does not LISTEN: a commit with a notification takes a lock of the whole cluster, each
 * process would need a connection of its own, and poolers of transactions do not pass notifications on.
 */
import { createSingleFlight } from '../../kernel/concurrency/single-flight.ts'
import type { Watch } from '../../kernel/concurrency/work-watch.ts'
import type { Db } from '../../kernel/db/db.ts'
import { ApiError } from '../../kernel/errors.ts'
import { createBackground } from '../../kernel/jobs/background.ts'
import { createPollLoop } from '../../kernel/jobs/poll-loop.ts'
import type { Dataset } from '../datasets/dataset-record.ts'
import { createCatchUp } from './catch-up.ts'
import { checkTopics, resetFrame } from './check-topics.ts'
import { openTopic } from './follow.ts'
import { writeEventId } from './position.ts'
import { createTail, keepAlive } from './tail.ts'
import { errorFrame, readyFrame, type Subscriber, type Topic } from './topic.ts'

export type ChangeFeed = {
  /** Sends the changes of the dataset behind the event `lastId`, or from now on, until the function returned is called. */
  subscribe(dataset: Dataset, lastId: string | undefined, subscriber: Subscriber): Promise<() => void>
  readonly listeners: number
  /** How many tables they follow. */
  tables(): number
  /** For how long a running transaction has held changes back. */
  heldSeconds(): number
  /** Ends all streams: their clients resume at another process. */
  close(): Promise<void>
}

/** Reading an empty log takes less than a millisecond. */
const pollMs = 250
/** How often datasets and triggers are checked, and the pause after a failure. */
const checkMs = 1_000

export function createChangeFeed(db: Db, onError: (error: unknown) => void, watch?: () => Watch): ChangeFeed {
  const background = createBackground(onError, watch)
  const topics = new Map<string, Topic>()
  const opening = createSingleFlight<Topic>()
  const tail = createTail(db)
  const catchUp = createCatchUp(db)
  const isWanted = (): boolean => topics.size > 0
  const loop = createPollLoop({ background, take, afterFailureMs: checkMs, isWanted, onError })
  let checkedAt = 0

  async function take(): Promise<number> {
    const now = performance.now()
    if (now - checkedAt >= checkMs) {
      checkedAt = now
      await checkTopics(db, [...topics.values()], tail.position)
    }
    await tail.read(topics.values())
    for (const topic of topics.values()) keepAlive(topic, tail.position)
    if (!isWanted()) tail.rewind()
    return pollMs
  }

  async function join(dataset: Dataset, subscriber: Subscriber): Promise<Topic> {
    const { signal } = subscriber
    const opened = topics.get(dataset.id) ?? (await opening.join(dataset.id, signal, () => openTopic(db, dataset)))
    const topic = topics.get(dataset.id) ?? opened
    topics.set(dataset.id, topic)
    topic.subscribers.add(subscriber)
    return topic
  }

  function leave(topic: Topic, subscriber: Subscriber): void {
    topic.subscribers.delete(subscriber)
    if (topic.subscribers.size === 0 && topics.get(topic.dataset.id) === topic) topics.delete(topic.dataset.id)
  }

  /** Nothing is awaited between the last look at the position and being live, so nothing is missed in between. */
  async function begin(topic: Topic, lastId: string | undefined, subscriber: Subscriber): Promise<void> {
    const { listener } = subscriber
    const id = lastId === undefined ? writeEventId(topic.state.era, tail.position) : undefined
    listener.send(readyFrame(topic, lastId !== undefined, id))
    const isWhole = lastId === undefined || (await catchUp(topic, lastId, subscriber, () => tail.position))
    if (!isWhole)
      listener.send(resetFrame(topic, tail.position, 'The changes since the last event are no longer known.'))
    subscriber.isLive = true
  }

  return {
    async subscribe(dataset, lastId, subscriber) {
      if (background.isClosed()) throw new ApiError('shutting_down', 'The server is stopping. Connect again.')
      const topic = await join(dataset, subscriber)
      try {
        await loop.next()
      } catch (error) {
        leave(topic, subscriber)
        throw error
      }
      background.run(() => begin(topic, lastId, subscriber).catch((error) => endFailed(subscriber, error, onError)))
      return () => leave(topic, subscriber)
    },
    get listeners() {
      return topics.values().reduce((sum, { subscribers }) => sum + subscribers.size, 0)
    },
    tables: () => new Set(topics.values().map(({ state }) => state.root)).size,
    heldSeconds: () => tail.heldSeconds,
    async close() {
      for (const { subscribers } of topics.values()) for (const { listener } of subscribers) listener.end()
      await background.close()
    },
  }
}

function endFailed({ listener, signal }: Subscriber, error: unknown, onError: (error: unknown) => void): void {
  if (signal.aborted) return
  onError(error)
  listener.end(errorFrame(new ApiError('unavailable', 'The changes could not be read. Connect again.')))
}
