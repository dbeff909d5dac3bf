import { Readable } from 'node:stream'
import Type, { type TObject } from 'typebox'

/** Server-Sent Events with back-pressure. */
export type EventStream = {
  readonly body: Readable
  /** Sends an event. False means back-pressure; `onRoom` says when it is over. */
  send(name: string, data: object): boolean
  /** Sends the last event. */
  end(name: string, data: object): void
}

export type EventStreamOptions = {
  /** How often a silent stream carries a comment. */
  keepaliveMs: number
  /** A client that reads nothing for so long while data wait is stalled. */
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

/** One event of a stream, for the documents. `data` are JSON. */
export const eventSchema = (names: readonly string[]): TObject =>
  Type.Object({
    event: Type.Enum([...names]),
    id: Type.Optional(Type.String()),
    data: Type.String({ contentMediaType: 'application/json' }),
  })

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

/** JSON escapes line ends, so no text can end a frame or begin another. */
const eventOf = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
