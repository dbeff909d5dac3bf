import type { CancelReason, Invoke } from './protocol.ts'
import type { Offer, Run, RunEvent } from './run.ts'
import type { Workers } from './workers.ts'

/** What this area needs of the bus between replicas. */
export type Bus = {
  readonly id: string
  send(to: string, message: object): Promise<boolean>
  post(to: string, message: object): void
  broadcast(message: object): void
  listen(hear: (message: unknown, from: string) => void): void
}

/** What two replicas say to each other about an invocation. */
export type RunMessage =
  | { k: 'offer'; agentId: string; conversationId?: string; invoke: Invoke }
  | { k: 'event'; id: string; event: RunEvent }
  | { k: 'credit'; id: string; bytes: number }
  | { k: 'cancel'; id: string; reason: CancelReason }

const kinds: ReadonlySet<string> = new Set(['offer', 'event', 'credit', 'cancel'] satisfies RunMessage['k'][])
export const isRunMessage = (message: { k: string }): message is RunMessage => kinds.has(message.k)

/** The invocations between this replica and one other: those it was given, and those it gave. */
export type PeerRuns = {
  offerTo(agentId: string, conversationId: string | undefined): Offer
  hear(message: RunMessage): void
  /** The other is gone. */
  lose(): void
}

type PeerRunsOptions = { bus: Bus; workers: Workers; peerId: string; onAbsent(): void }

const isLast = ({ t }: RunEvent): boolean => ['declined', 'lost', 'done', 'error', 'cancelled'].includes(t)

export function createPeerRuns({ bus, workers, peerId, onAbsent }: PeerRunsOptions): PeerRuns {
  const given = new Map<string, { accepted: boolean; on(event: RunEvent): void }>()
  const taken = new Map<string, Run>()
  const post = (message: RunMessage) => bus.post(peerId, message)

  function hearEvent(id: string, event: RunEvent): void {
    const run = given.get(id)
    if (!run) return
    if (event.t === 'accepted') run.accepted = true
    if (isLast(event)) given.delete(id)
    run.on(event)
  }

  /** The other has a client, this replica the workers. */
  function take({ agentId, conversationId, invoke }: Extract<RunMessage, { k: 'offer' }>): void {
    const { id } = invoke
    let isOver = false
    const run = workers.offerTo(agentId, conversationId)(invoke, (event) => {
      post({ k: 'event', id, event })
      if (!isLast(event)) return
      isOver = true
      taken.delete(id)
    })
    if (!isOver) taken.set(id, run)
  }

  return {
    offerTo: (agentId, conversationId) => (invoke, on) => {
      const { id } = invoke
      given.set(id, { accepted: false, on })
      const offer: RunMessage = { k: 'offer', agentId, invoke, ...(conversationId !== undefined && { conversationId }) }
      bus.send(peerId, offer).then((hasArrived) => {
        if (hasArrived || !given.has(id)) return
        // It may only be slow: should it have the offer after all, nobody waits for the answer.
        post({ k: 'cancel', id, reason: 'ack_timeout' })
        hearEvent(id, { t: 'declined', why: 'nobody' })
        onAbsent()
      }, onAbsent)
      return {
        credit: (bytes) => post({ k: 'credit', id, bytes }),
        cancel(reason) {
          if (given.delete(id)) post({ k: 'cancel', id, reason })
        },
      }
    },
    hear(message) {
      if (message.k === 'offer') take(message)
      else if (message.k === 'event') hearEvent(message.id, message.event)
      else if (message.k === 'credit') taken.get(message.id)?.credit(message.bytes)
      else {
        taken.get(message.id)?.cancel(message.reason)
        taken.delete(message.id)
      }
    },
    lose() {
      for (const [id, { accepted }] of [...given]) {
        hearEvent(id, accepted ? { t: 'lost' } : { t: 'declined', why: 'nobody' })
      }
      for (const run of taken.values()) run.cancel('client_disconnected')
      taken.clear()
    },
  }
}
