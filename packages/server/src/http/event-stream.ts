import { Readable } from 'node:stream'

/** Server-Sent Events on their way to a client, at the pace at which it reads. */
export type EventStream = {
  readonly body: Readable
  /** Sends an event. False when the client has more waiting than is good: `onRoom` says when that is over. */
  send(name: string, data: object): boolean
  /** Sends the last event. */
  end(name: string, data: object): void
}

export type EventStreamOptions = {
  /** How often a silent stream carries a comment. */
  keepaliveMs: number
  /** A client that takes nothing for so long, although something waits, is stalled. */
  stalledMs: number
  onRoom(): void
  onStalled(): void
}

/** Proxies must pass every event on at once, unchanged and uncompressed. */
export const eventStreamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

const roomBytes = 16_384

export function createEventStream({ keepaliveMs, stalledMs, onRoom, onStalled }: EventStreamOptions): EventStream {
  let hasRoom = true
  let stalled: NodeJS.Timeout | undefined
  const body = new Readable({
    highWaterMark: roomBytes,
    read() {
      clearTimeout(stalled)
      if (hasRoom) return
      hasRoom = true
      onRoom()
    },
  })
  const keepalive = setInterval(() => {
    if (hasRoom) push(': keepalive\n\n')
  }, keepaliveMs)
  body.once('close', () => {
    clearInterval(keepalive)
    clearTimeout(stalled)
  })

  function push(text: string | null): boolean {
    if (body.destroyed || body.readableEnded) return false
    const isWanted = body.push(text)
    if (!isWanted && hasRoom) {
      hasRoom = false
      clearTimeout(stalled)
      stalled = setTimeout(onStalled, stalledMs)
    }
    return isWanted
  }

  return {
    body,
    send(name, data) {
      keepalive.refresh()
      return push(eventOf(name, data))
    },
    end(name, data) {
      clearInterval(keepalive)
      push(eventOf(name, data))
      push(null)
    },
  }
}

/** JSON has no line ends of its own and writes those of its texts as escapes: no text can end a frame or begin one. */
const eventOf = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
