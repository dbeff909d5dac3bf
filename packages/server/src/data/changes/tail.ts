// Reads the end of the change log for all topics of the process, and hands it to their subscribers.
import type { Db } from '../../kernel/db/db.ts'
import { report } from '../../kernel/events.ts'
import { type LoggedChange, readLog } from './change-log.ts'
import { type Coalescer, createCoalescer } from './coalesce.ts'
import { createHeldBack } from './held-back.ts'
import { type LogPosition, startOf, writeEventId } from './position.ts'
import { broadcast, shownOf, type Topic } from './topic.ts'

export type Tail = {
  /** All below is read, and was sent to whoever was live then. */
  readonly position: LogPosition
  /** For how long a running transaction has held back what came later. */
  readonly heldSeconds: number
  /** Reads on, or finds the end of the log at first. */
  read(topics: Iterable<Topic>): Promise<void>
  /** Nobody listens any more: what comes until somebody does need not be read. */
  rewind(): void
}

type ByRelation = ReadonlyMap<string, readonly Topic[]>

export function createTail(db: Db): Tail {
  let position: LogPosition | undefined
  const heldBack = createHeldBack()
  return {
    get heldSeconds() {
      return heldBack.seconds
    },
    get position() {
      return position ?? startOf(0n)
    },
    async read(topics) {
      const byRelation = position ? topicsByRelation(topics) : new Map()
      const coalescers = new Map<Topic, Coalescers>()
      // Up to where the log was complete at first, or somebody who writes without a pause would be read for ever.
      let horizon: bigint | undefined
      for (let isLast = false; !isLast; ) {
        const page = await readLog(db, [...byRelation.keys()], position ?? startOf(0n), horizon)
        for (const change of page.changes) addTo(coalescers, byRelation, change)
        heldBack.note(page.horizon, page.isHeld)
        horizon ??= page.horizon
        ;({ position, isLast } = page)
      }
      for (const [topic, { whole, bound }] of coalescers)
        broadcast(topic, { whole: whole.frames(), bound: bound.frames() })
    },
    rewind() {
      heldBack.note(0n, false)
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

type Coalescers = { readonly whole: Coalescer; readonly bound: Coalescer }

const coalescersOf = (topic: Topic): Coalescers => ({
  whole: createCoalescer(shownOf(topic)),
  bound: createCoalescer({ ...shownOf(topic), isBound: true }),
})

function addTo(coalescers: Map<Topic, Coalescers>, byRelation: ByRelation, change: LoggedChange): void {
  for (const topic of byRelation.get(change.relation) ?? []) {
    const both = coalescers.get(topic) ?? coalescersOf(topic)
    coalescers.set(topic, both)
    both.whole.add(change)
    both.bound.add(change)
    report('changeTold', { seconds: change.ageSeconds ?? 0 })
  }
}

/** Whoever listens to a silent table gets a sign of life, with an id that is not older than the retention. */
export function keepAlive({ state, subscribers }: Topic, position: LogPosition): void {
  const now = performance.now()
  const sign = `id: ${writeEventId(state.era, position)}\n\n`
  for (const { listener, isLive } of subscribers) {
    if (listener.isSilent(now)) listener.send(isLive ? sign : ':\n\n')
  }
}
