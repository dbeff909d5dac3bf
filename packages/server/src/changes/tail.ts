// Reads the end of the change log for all topics of the process, and hands it to their subscribers.
import type { Db } from '../db/db.ts'
import { type LoggedChange, readLog } from './change-log.ts'
import { framesOf } from './coalesce.ts'
import { type Position, startOf, writeEventId } from './position.ts'
import { broadcast, shownOf, type Topic } from './topic.ts'

export type Tail = {
  /** All below is read, and was sent to whoever was live then. */
  readonly position: Position
  /** Reads on, or finds the end of the log at first. */
  read(topics: Iterable<Topic>): Promise<void>
  /** Nobody listens any more: what comes until somebody does need not be read. */
  rewind(): void
}

type ByRelation = ReadonlyMap<string, readonly Topic[]>

export function createTail(db: Db): Tail {
  let position: Position | undefined
  return {
    get position() {
      return position ?? startOf(0n)
    },
    async read(topics) {
      const byRelation = position ? topicsByRelation(topics) : new Map()
      for (let isLast = false; !isLast; ) {
        const page = await readLog(db, [...byRelation.keys()], position ?? startOf(0n))
        deliver(page.changes, byRelation)
        ;({ position, isLast } = page)
      }
    },
    rewind() {
      position = undefined
    },
  }
}

function topicsByRelation(topics: Iterable<Topic>): ByRelation {
  const byRelation = new Map<string, Topic[]>()
  for (const topic of topics) {
    for (const relation of topic.state.relations) byRelation.set(relation, [...(byRelation.get(relation) ?? []), topic])
  }
  return byRelation
}

function deliver(changes: readonly LoggedChange[], byRelation: ByRelation): void {
  const byTopic = new Map<Topic, LoggedChange[]>()
  for (const change of changes) {
    for (const topic of byRelation.get(change.relation) ?? []) {
      const own = byTopic.get(topic)
      if (own) own.push(change)
      else byTopic.set(topic, [change])
    }
  }
  for (const [topic, own] of byTopic) for (const frame of framesOf(own, shownOf(topic))) broadcast(topic, frame)
}

/** Whoever listens to a silent table gets a sign of life, with an id that is not older than the retention. */
export function keepAlive({ state, subscribers }: Topic, position: Position): void {
  const now = performance.now()
  const sign = `id: ${writeEventId(state.era, position)}\n\n`
  for (const { listener, isLive } of subscribers) {
    if (listener.isSilent(now)) listener.send(isLive ? sign : ':\n\n')
  }
}
