import type { CancelReason, Invoke, WorkerFrame } from './protocol.ts'

/** What happens to an invocation that was offered to workers, on this replica or another. */
export type RunEvent =
  /** Nobody took it, and nobody will: there is nobody, nobody with a free slot, or nobody who answered in time. */
  | { t: 'declined'; why: Decline }
  | { t: 'accepted'; workerId: string }
  /** The worker is gone, and with it the answer. */
  | { t: 'lost' }
  | Omit<Extract<WorkerFrame, { t: 'start' | 'progress' | 'cancelled' }>, 'id'>
  | Omit<Extract<WorkerFrame, { t: 'delta' }>, 'id'>
  | Omit<Extract<WorkerFrame, { t: 'done' }>, 'id'>
  | Omit<Extract<WorkerFrame, { t: 'error' }>, 'id'>

export type Decline = 'nobody' | 'busy' | 'silent'

/** The reins of an invocation that was offered. */
export type Run = {
  /** So many bytes of text were taken by the client: as many more may come. */
  credit(bytes: number): void
  /** Nobody wants the answer any more. No event comes after this. */
  cancel(reason: CancelReason): void
}

/** Offers an invocation. Events come until a decline, a loss, a terminal frame or `cancel`. */
export type Offer = (invoke: Invoke, on: (event: RunEvent) => void) => Run

/** Offers to one after the other until one accepts: after that it is never offered again, for agents have effects. */
export function offerInTurn(next: () => Offer | undefined): Offer {
  return (invoke, on) => {
    const declines = new Set<Decline>()
    let current: Run | undefined
    let turn = 0
    let isCancelled = false

    const offerNext = (): void => {
      if (isCancelled) return
      const offer = next()
      if (!offer) {
        on({ t: 'declined', why: strongest(declines) })
        return
      }
      turn += 1
      const mine = turn
      const run = offer(invoke, (event) => {
        if (event.t !== 'declined') return on(event)
        declines.add(event.why)
        offerNext()
      })
      // It may have declined already, and then it is another's turn.
      if (turn === mine) current = run
    }
    offerNext()
    return {
      credit: (bytes) => current?.credit(bytes),
      cancel(reason) {
        isCancelled = true
        current?.cancel(reason)
      },
    }
  }
}

/** What to tell of several declines: a worker that was silent may have begun; a busy one will be free. */
const strongest = (declines: ReadonlySet<Decline>): Decline =>
  declines.has('silent') ? 'silent' : declines.has('busy') ? 'busy' : 'nobody'
