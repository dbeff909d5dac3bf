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

/** `crowded`: the platform itself would have to answer, and does as much for the application as it may. */
export type Decline = 'nobody' | 'crowded' | 'busy' | 'silent'

/** The reins of an invocation that was offered. */
export type Run = {
  /** So many bytes of text were taken by the client: as many more may come. */
  credit(bytes: number): void
  /** Nobody wants the answer any more. No event comes after this. */
  cancel(reason: CancelReason): void
}

/** Offers an invocation. Events come until a decline, a loss, a terminal frame or `cancel`. */
export type Offer = (invoke: Invoke, on: (event: RunEvent) => void) => Run

/** An offer that is declined at once. */
export const declining =
  (why: Decline): Offer =>
  (_invoke, on) => {
    on({ t: 'declined', why })
    return { credit() {}, cancel() {} }
  }

/** Offers to one after the other until one accepts: after that it is never offered again, for agents have effects. */
export function offerInTurn(next: () => Offer | undefined): Offer {
  return (invoke, on) => {
    let why: Decline = 'nobody'
    let current: Run | undefined
    let turn = 0
    let isCancelled = false

    const offerNext = (): void => {
      if (isCancelled) return
      const offer = next()
      if (!offer) {
        on({ t: 'declined', why })
        return
      }
      turn += 1
      const mine = turn
      const run = offer(invoke, (event) => {
        if (event.t !== 'declined') return on(event)
        why = stronger(why, event.why)
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

/** What to tell of several declines, the last first: a worker that was silent may have begun; a busy one will be free. */
const strength: readonly Decline[] = ['nobody', 'crowded', 'busy', 'silent']

const stronger = (a: Decline, b: Decline): Decline => (strength.indexOf(a) > strength.indexOf(b) ? a : b)
