import type { Bus } from '../../kernel/bus/bus.ts'
import type { Offer, RunEvent, WorkerRun } from '../invocation/offer.ts'
import type { CancelReason, Invoke } from '../protocol.ts'
import type { Workers } from './workers.ts'

/** The messages between two replicas about an invocation. */
export type RunMessage =
  | { k: 'offer'; agentId: string; conversationId?: string; invoke: Invoke }
  | { k: 'event'; id: string; event: RunEvent }
  | { k: 'credit'; id: string; bytes: number }
  | { k: 'cancel'; id: string; reason: CancelReason }

const kinds: ReadonlySet<string> = new Set(['offer', 'event', 'credit', 'cancel'] satisfies RunMessage['k'][])
export const isRunMessage = (message: { k: string }): message is RunMessage => kinds.has(message.k)

/** Invocations over the bus, between this replica and one other: those that it sent there and those that it received. */
export type RemoteRuns = {
  offerTo(agentId: string, conversationId: string | undefined): Offer
  receive(message: RunMessage): void
  /** The other replica is gone: it was told to stop, or is silent. */
  lose(isStopping: boolean): void
}

type RemoteRunsOptions = { bus: Bus; workers: Workers; replicaId: string; onAbsent(): void }

const isLast = ({ t }: RunEvent): boolean => ['declined', 'lost', 'done', 'error', 'cancelled'].includes(t)

export function createRemoteRuns({ bus, workers, replicaId, onAbsent }: RemoteRunsOptions): RemoteRuns {
  const sent = new Map<string, { accepted: boolean; on(event: RunEvent): void }>()
  const received = new Map<string, WorkerRun>()
  const post = (message: RunMessage) => bus.post(replicaId, message)

  function handleEvent(id: string, event: RunEvent): void {
    const run = sent.get(id)
    if (!run) return
    if (event.t === 'accepted') run.accepted = true
    if (isLast(event)) sent.delete(id)
    run.on(event)
  }

  /** The other replica has the client, this one the workers. */
  function receiveOffer({ agentId, conversationId, invoke }: Extract<RunMessage, { k: 'offer' }>): void {
    const { id } = invoke
    let isOver = false
    const run = workers.offerTo(agentId, conversationId)(invoke, (event) => {
      post({ k: 'event', id, event })
      if (!isLast(event)) return
      isOver = true
      received.delete(id)
    })
    if (!isOver) received.set(id, run)
  }

  return {
    offerTo: (agentId, conversationId) => (invoke, on) => {
      const { id } = invoke
      sent.set(id, { accepted: false, on })
      const offer: RunMessage = { k: 'offer', agentId, invoke, ...(conversationId !== undefined && { conversationId }) }
      bus.send(replicaId, offer).then((hasArrived) => {
        if (hasArrived || !sent.has(id)) return
        // The replica may only be slow. If it gets the offer after all, it must not work on it.
        post({ k: 'cancel', id, reason: 'ack_timeout' })
        handleEvent(id, { t: 'declined', why: 'nobody' })
        onAbsent()
      }, onAbsent)
      return {
        credit: (bytes) => post({ k: 'credit', id, bytes }),
        cancel(reason) {
          if (sent.delete(id)) post({ k: 'cancel', id, reason })
        },
      }
    },
    receive(message) {
      if (message.k === 'offer') receiveOffer(message)
      else if (message.k === 'event') handleEvent(message.id, message.event)
      else if (message.k === 'credit') received.get(message.id)?.credit(message.bytes)
      else {
        received.get(message.id)?.cancel(message.reason)
        received.delete(message.id)
      }
    },
    lose(isStopping) {
      for (const [id, { accepted }] of [...sent]) {
        handleEvent(id, accepted ? { t: 'lost', isStopping } : { t: 'declined', why: 'nobody' })
      }
      for (const run of received.values()) run.cancel('client_disconnected')
      received.clear()
    },
  }
}
