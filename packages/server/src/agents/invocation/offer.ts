import type { CancelReason, Invoke, WorkerFrame } from '../protocol.ts'

/** Events of an invocation that was offered to workers, on this replica or another. */
export type RunEvent =
  /** No worker took it: there is none, none has a free slot, or none answered in time. */
  | { t: 'declined'; why: Decline }
  | { t: 'accepted'; workerId: string }
  /** The worker disconnected after it had accepted; `isStopping`: because its replica is told to stop. */
  | { t: 'lost'; isStopping?: boolean }
  | Omit<Extract<WorkerFrame, { t: 'start' | 'progress' | 'cancelled' }>, 'id'>
  | Omit<Extract<WorkerFrame, { t: 'delta' }>, 'id'>
  | Omit<Extract<WorkerFrame, { t: 'done' }>, 'id'>
  | Omit<Extract<WorkerFrame, { t: 'error' }>, 'id'>

/** `crowded`: only the platform itself could answer, and the application has reached its limit there. */
export type Decline = 'nobody' | 'crowded' | 'busy' | 'silent'

/** The handle of an invocation that was offered. */
export type WorkerRun = {
  /** Flow control: the client took so many bytes, so the worker may send as many more. */
  credit(bytes: number): void
  /** The answer is no longer needed. No event comes after this. */
  cancel(reason: CancelReason): void
}

/** Offers an invocation. Events come until a decline, a loss, a terminal frame or `cancel`. */
export type Offer = (invoke: Invoke, on: (event: RunEvent) => void) => WorkerRun

/** An offer that is declined at once. */
export const declining =
  (why: Decline): Offer =>
  (_invoke, on) => {
    on({ t: 'declined', why })
    return { credit() {}, cancel() {} }
  }

/** Failover: offers to one after the other until one accepts. After that never again, because agents have side effects. */
export function offerInTurn(next: () => Offer | undefined): Offer {
  return (invoke, on) => {
    let why: Decline = 'nobody'
    let current: WorkerRun | undefined
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
      // It may have declined synchronously; then the next offer has already been made.
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

/** Which of several declines is reported, weakest first: a silent worker may have begun, a busy one will be free. */
const strength: readonly Decline[] = ['nobody', 'crowded', 'busy', 'silent']

const stronger = (a: Decline, b: Decline): Decline => (strength.indexOf(a) > strength.indexOf(b) ? a : b)
