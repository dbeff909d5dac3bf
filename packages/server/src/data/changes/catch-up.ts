// Resumes a stream from the last event that its client has got.
import { createAdmission } from '../../kernel/concurrency/admission.ts'
import { createSingleFlight } from '../../kernel/concurrency/single-flight.ts'
import type { Db } from '../../kernel/db/db.ts'
import { type LogPage, readLog, readSwept } from './change-log.ts'
import { framesOf } from './coalesce.ts'
import { type LogPosition, readEventId } from './position.ts'
import { type Subscriber, shownOf, type Topic, tell } from './topic.ts'

/** So that clients that come back all at once leave connections for others. */
const readersAtOnce = 4

/**
 * Sends what the log has behind `lastId` until the client has all that `reached` says, as slowly as it reads. False if something
 * is missing in the log.
 */
export type CatchUp = (
  topic: Topic,
  lastId: string,
  subscriber: Subscriber,
  reached: () => LogPosition,
) => Promise<boolean>

export function createCatchUp(db: Db): CatchUp {
  const readers = createAdmission({ total: readersAtOnce })
  /** Clients that were cut off together ask for the same page. */
  const reading = createSingleFlight<{ page: LogPage; swept: bigint }>()

  async function readPage(relations: readonly string[], after: LogPosition, before: bigint) {
    const leave = await readers.admit('')
    try {
      // What is deleted while it is read is missing too.
      return { page: await readLog(db, relations, after, before), swept: await readSwept(db) }
    } finally {
      leave()
    }
  }

  return async (topic, lastId, { listener, signal, isBound }, reached) => {
    const id = readEventId(lastId)
    const { era, relations } = topic.state
    if (!id || id.era !== era || id.position.xid > reached().xid) return false
    let { position } = id
    while (position.xid < reached().xid && !listener.body.destroyed) {
      const before = reached().xid
      const after = position
      const key = `${era} ${position.xid}.${position.seq} ${before}`
      const { page, swept } = await reading.join(key, signal, () => readPage(relations, after, before))
      if (position.xid <= swept || topic.state.era !== era) return false
      for (const frame of framesOf(page.changes, { ...shownOf(topic), isBound })) tell(listener, frame)
      await listener.drained()
      position = page.position
    }
    return true
  }
}
