import type { Envelope } from './ipc-bus.ts'

/** The supervisor's side of the bus between the workers of one machine: it passes envelopes on, and knows who is there. */
export type BusRouter = {
  /** An envelope of a worker; `deliver` is the way back to it. */
  receive(envelope: Envelope, deliver: Deliver): void
  /** The worker has ended. */
  remove(deliver: Deliver): void
}

export type Deliver = (envelope: Envelope) => void

export function createBusRouter(): BusRouter {
  const members = new Map<string, Deliver>()

  function pass(envelope: Extract<Envelope, { k: 'message' }>, deliver: Deliver): void {
    const { from, to, receipt } = envelope
    if (to === undefined) {
      for (const [id, other] of members) if (id !== from) other(envelope)
      return
    }
    const receiver = members.get(to)
    if (receiver) receiver(envelope)
    else if (receipt !== undefined) deliver({ k: 'receipt', to: from, receipt, hasArrived: false })
  }

  return {
    receive(envelope, deliver) {
      if (envelope.k === 'join') members.set(envelope.id, deliver)
      else if (envelope.k === 'leave') members.delete(envelope.id)
      else if (envelope.k === 'message') pass(envelope, deliver)
      else members.get(envelope.to)?.(envelope)
    },
    remove(deliver) {
      for (const [id, one] of members) if (one === deliver) members.delete(id)
    },
  }
}
