import { Readable } from 'node:stream'

/** One client of a change feed: a stream of events whose unread bytes are bounded. */
export type Listener = {
  readonly body: Readable
  send(frame: string): void
  /** Sends a last frame, if there is one, and ends the stream. */
  end(frame?: string): void
  /** Whether nothing was sent for so long that a sign of life is due. */
  isSilent(now: number): boolean
  /** Whether it has read nothing for so long that it is cut. */
  isStuck(now: number): boolean
  cut(): void
  /** When the client has taken what was sent, or is gone. */
  drained(): Promise<void>
}

export type ListenerOptions = {
  /** How long a client may leave what was sent unread. */
  readonly stuckMs: number
  /** Resets the connection: closing it would leave what the system has buffered. */
  reset(): void
}

/** A client that is behind by more than this is cut; it resumes from the last id that it has read. */
const maxBehindBytes = 262_144
const silenceMs = 15_000

export function createListener({ stuckMs, reset }: ListenerOptions): Listener {
  let isBehind = false
  let behindSince = 0
  let dueAt = 0
  const body = new Readable({
    highWaterMark: 16_384,
    read() {
      isBehind = false
      wake()
    },
    destroy(error, callback) {
      wake()
      callback(error)
    },
  })
  let waiting: (() => void)[] = []

  function wake(): void {
    const woken = waiting
    waiting = []
    for (const resume of woken) resume()
  }

  function cut(): void {
    body.destroy()
    reset()
  }

  function send(frame: string): void {
    if (body.destroyed || body.readableEnded) return
    if (body.readableLength + frame.length > maxBehindBytes) {
      cut()
      return
    }
    const now = performance.now()
    // Spread, or all clients would get their signs of life at once after a change.
    dueAt = now + silenceMs * (0.75 + Math.random() / 2)
    if (body.push(frame) || isBehind) return
    isBehind = true
    behindSince = now
  }

  return {
    body,
    send,
    end(frame) {
      // Whoever may no longer read must not get what still waits either.
      if (isBehind) return cut()
      if (frame !== undefined) send(frame)
      if (!body.destroyed) body.push(null)
    },
    isSilent: (now) => now >= dueAt,
    isStuck: (now) => isBehind && now - behindSince > stuckMs,
    cut,
    drained: () => new Promise((resolve) => (isBehind && !body.destroyed ? waiting.push(resolve) : resolve())),
  }
}
