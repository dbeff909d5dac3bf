import { Readable } from 'node:stream'
import { report } from '../../kernel/events.ts'

/** One client of a change feed: a stream of events whose unread bytes are bounded. */
export type Listener = {
  readonly body: Readable
  send(frame: string): void
  /** Sends a last frame, if there is one, and ends the stream. */
  end(frame?: string): void
  /** Whether nothing was sent for so long that a sign of life is due. */
  isSilent(now: number): boolean
  /** When the client has taken what was sent, or is gone. */
  drained(): Promise<void>
}

export type ListenerOptions = {
  /** Resets the connection: closing it would leave what the system has buffered. */
  reset(): void
}

/** A client that is behind by more than this is cut; it resumes from the last id that it has read. */
const maxBehindBytes = 262_144
const silenceMs = 15_000

export function createListener({ reset }: ListenerOptions): Listener {
  let isBehind = false
  let isOver = false
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
    report('listenerCut', {})
  }

  function send(frame: string): void {
    if (isOver || body.destroyed) return
    if (body.readableLength + frame.length > maxBehindBytes) {
      cut()
      return
    }
    // Spread, or all clients would get their signs of life at once after a change.
    dueAt = performance.now() + silenceMs * (0.75 + Math.random() / 2)
    if (!body.push(frame)) isBehind = true
  }

  return {
    body,
    send,
    end(frame) {
      if (isOver) return
      // Whoever may no longer read must not get what still waits either.
      if (isBehind) return cut()
      if (frame !== undefined) send(frame)
      isOver = true
      if (!body.destroyed) body.push(null)
    },
    isSilent: (now) => now >= dueAt,
    drained: () => new Promise((resolve) => (isBehind && !body.destroyed ? waiting.push(resolve) : resolve())),
  }
}
