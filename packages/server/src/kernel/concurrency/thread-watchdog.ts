import type { Worker } from 'node:worker_threads'

/**
 * A watchdog for worker threads. A thread counts in shared memory twice a second; when the count stands still, the thread
 * is in a loop that does not end, and only terminating it helps. Shared memory, because a main thread that was itself held
 * up finds the count of the meantime there, where an unread message would look like silence.
 */
export type HeartbeatCounter = Int32Array<SharedArrayBuffer>

const countAt = 0
const jobAt = 1
const beatMs = 500
const checkMs = 1_000

export const createHeartbeat = (): HeartbeatCounter => new Int32Array(new SharedArrayBuffer(8))

/** In the thread: beats whenever the event loop has a turn. */
export function keepBeating(heartbeat: HeartbeatCounter): void {
  const beat = (): number => Atomics.add(heartbeat, countAt, 1)
  beat()
  setInterval(beat, beatMs).unref()
}

/** In the thread: what it works on from here on, to be found if it does not come back. */
export const noteJob = (heartbeat: HeartbeatCounter, job: number): void => void Atomics.store(heartbeat, jobAt, job)

export const lastJob = (heartbeat: HeartbeatCounter): number => Atomics.load(heartbeat, jobAt)

/** Terminates the thread when it has stood still for so long; its `exit` event tells the rest. */
export function watchThread(worker: Worker, heartbeat: HeartbeatCounter, stalledMs: number): void {
  let count = -1
  let checksWithoutBeat = 0
  const timer = setInterval(() => {
    const now = Atomics.load(heartbeat, countAt)
    // A thread that has not begun is still loading its code.
    checksWithoutBeat = now === count && now > 0 ? checksWithoutBeat + 1 : 0
    count = now
    if (checksWithoutBeat * checkMs >= stalledMs) void worker.terminate()
  }, checkMs).unref()
  worker.once('exit', () => clearInterval(timer))
}
