import type { Db } from '../db/db.ts'
import type { UploadFault } from './upload-fault.ts'
import { type Claimed, claim } from './upload-state.ts'

/** An upload that this process works on. */
type Running = {
  readonly applicationId: string
  readonly controller: AbortController
  readonly ended: Promise<void>
}

type Attempt = (upload: Claimed, signal: AbortSignal, abort: (reason?: UploadFault) => void) => Promise<void>

export type UploadSlots = {
  /** Begins with the upload whose turn it is; undefined when there is none. */
  take(signal: AbortSignal): Promise<Claimed | undefined>
  readonly running: ReadonlyMap<string, Running>
}

/** The slots of this process for uploads, shared fairly between applications. */
export function createUploadSlots(
  db: Db,
  { slots, perApplication }: { slots: number; perApplication: number },
  attempt: Attempt,
): UploadSlots {
  const running = new Map<string, Running>()
  /** One at a time: each must know what the others have taken. */
  let taking: Promise<unknown> = Promise.resolve()

  function begin(upload: Claimed, signal: AbortSignal): void {
    const controller = new AbortController()
    const either = AbortSignal.any([signal, controller.signal])
    const ended = attempt(upload, either, (reason) => controller.abort(reason)).finally(() => {
      running.delete(upload.id)
    })
    running.set(upload.id, { applicationId: upload.applicationId, controller, ended })
    // Whoever took it waits for it.
    ended.catch(() => undefined)
  }

  return {
    running,
    take(signal) {
      const taken = taking.then(async () => {
        // The last slot is for an application that has none here: whoever floods the queue cannot fill them all.
        const holders = [...running.values()].map(({ applicationId }) => applicationId)
        const upload = await claim(db, { perApplication, passed: running.size >= slots - 1 ? holders : [] })
        if (upload) begin(upload, signal)
        return upload
      })
      taking = taken.catch(() => undefined)
      return taken
    },
  }
}
