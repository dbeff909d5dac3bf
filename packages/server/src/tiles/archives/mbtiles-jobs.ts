import { ApiError } from '../../errors.ts'
import type { MbtilesCommand, MbtilesReply, MbtilesSummary } from './mbtiles-protocol.ts'
import { broken } from './tile-content.ts'

export type Outcome = Uint8Array | MbtilesSummary | undefined
export type Job = { command: MbtilesCommand; resolve(outcome: Outcome): void; reject(error: unknown): void }

const maxWaiting = 2_000
/** So many are with the process at a time; the others can still be given up. */
const maxSent = 16

/** What is to be done, and what has been sent and is answered in that order. */
export function createMbtilesJobs() {
  let waiting: Job[] = []
  let sent: Job[] = []
  return {
    isEmpty: () => waiting.length + sent.length === 0,
    /** The one being worked on. */
    first: () => sent[0],
    async add(command: MbtilesCommand, signal: AbortSignal | undefined, added: () => void): Promise<Outcome> {
      signal?.throwIfAborted()
      if (waiting.length >= maxWaiting) throw new ApiError('busy', 'Too many tiles are being read. Try again shortly.')
      const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
      const job: Job = { command, resolve, reject }
      const giveUp = () => {
        waiting = waiting.filter((other) => other !== job)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', giveUp)
      waiting.push(job)
      added()
      return await promise.finally(() => signal?.removeEventListener('abort', giveUp))
    },
    /** Those to send now. */
    take(): Job[] {
      const next = waiting.splice(0, maxSent - sent.length)
      sent.push(...next)
      return next
    },
    settleFirst(reply: MbtilesReply): void {
      const job = sent.shift()
      if ('fault' in reply) job?.reject(broken('could not be read', new Error(reply.fault)))
      else job?.resolve(reply.outcome)
    },
    /** The one being worked on is to blame; the others are sent anew. */
    failFirst(error: ApiError): void {
      const culprit = sent.shift() ?? waiting.shift()
      waiting = [...sent, ...waiting]
      sent = []
      culprit?.reject(error)
    },
    failAll(error: ApiError): void {
      for (const { reject } of [...sent, ...waiting]) reject(error)
      sent = []
      waiting = []
    },
  }
}
