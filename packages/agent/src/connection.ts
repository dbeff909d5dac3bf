import type { IncomingMessage } from 'node:http'
import type { Writable } from 'node:stream'
import { WebSocket } from 'ws'
import type { LinkSettings } from './link-messages.ts'
import { type PlatformFrame, readPlatformFrame, subprotocol, type WorkerFrame } from './protocol.ts'

/** Why a connection is no more, as far as it is known. */
export type Ending = {
  reason: string
  /** The HTTP status, when the platform did not open a WebSocket. */
  status?: number
  retryAfterMs?: number
}

export type Connection = {
  /** Frames go out in this order; after the end they are dropped. */
  send(frame: WorkerFrame | string): void
  close(): void
  /** At once, without a goodbye. */
  cut(reason: string): void
}

type Events = {
  welcomed(): void
  frame(frame: PlatformFrame): void
  closed(ending: Ending): void
}

const handshakeTimeoutMs = 10_000
const closeTimeoutMs = 5_000
const maxFrameBytes = 8 * 1024 * 1024
const maxRefusalBytes = 4_096
const usualPingIntervalMs = 15_000
const silentIntervals = 3

/** One WebSocket to the platform, from the handshake to the end. `closed` is called exactly once. */
export function openConnection(settings: LinkSettings, on: Events): Connection {
  const socket = new WebSocket(settings.address, subprotocol, {
    headers: { 'x-api-key': settings.apiKey, 'user-agent': settings.sdk },
    perMessageDeflate: false,
    handshakeTimeout: handshakeTimeoutMs,
    maxPayload: maxFrameBytes,
  })
  let ending: Ending | undefined
  let silence = setTimeout(() => cut('the platform did not answer the handshake in time'), handshakeTimeoutMs * 2)

  function cut(reason: string): void {
    ending ??= { reason }
    socket.terminate()
  }
  let gather = () => {}
  function send(frame: WorkerFrame | string): void {
    if (socket.readyState !== WebSocket.OPEN) return
    gather()
    socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }
  function welcomed(pingIntervalMs: number): void {
    clearTimeout(silence)
    const patienceMs = (pingIntervalMs > 0 ? pingIntervalMs : usualPingIntervalMs) * silentIntervals
    silence = setTimeout(() => cut('the platform stopped sending'), patienceMs)
    on.welcomed()
  }

  socket.on('upgrade', (response) => {
    gather = createGathering(response.socket)
  })
  socket.on('open', () => send(hello(settings)))
  socket.on('ping', () => silence.refresh())
  socket.on('message', (data) => {
    silence.refresh()
    const frame = readPlatformFrame(String(data))
    if (frame?.t === 'welcome') welcomed(frame.pingIntervalMs)
    else if (frame && socket.readyState === WebSocket.OPEN) on.frame(frame)
  })
  socket.on('unexpected-response', async (_request, response) => {
    ending = await readRefusal(response)
    socket.terminate()
  })
  socket.on('error', (error) => {
    ending ??= failure(error)
  })
  socket.on('close', (code, reason) => {
    clearTimeout(silence)
    on.closed(ending ?? { reason: `closed with ${code} ${reason}`.trim() })
  })

  return {
    send,
    cut,
    close() {
      socket.close(1000)
      setTimeout(() => socket.terminate(), closeTimeoutMs).unref()
    },
  }
}

/** A name with several addresses fails once for each, and the whole has no message. */
function failure(error: NodeJS.ErrnoException): Ending {
  const each: Error[] = error instanceof AggregateError ? error.errors : [error]
  return { reason: each.map(({ message }) => message).join(', ') || error.code || 'unknown' }
}

/** What is sent within one turn of the event loop goes out at its end, in one piece. */
function createGathering(wire: Writable): () => void {
  let isGathering = false
  const letGo = () => {
    isGathering = false
    wire.uncork()
  }
  return () => {
    if (isGathering) return
    isGathering = true
    wire.cork()
    setImmediate(letGo)
  }
}

const hello = ({ workerId, capacity, sdk, version }: LinkSettings): WorkerFrame => ({
  t: 'hello',
  protocol: 1,
  workerId,
  concurrency: capacity,
  sdk,
  ...(version !== undefined && { version }),
})

async function readRefusal(response: IncomingMessage): Promise<Ending> {
  const status = response.statusCode ?? 0
  const seconds = Number(response.headers['retry-after'])
  const said = await readMessage(response)
  return {
    status,
    reason: said === '' ? `the platform answered ${status}` : `the platform answered ${status}: ${said}`,
    ...(seconds > 0 && { retryAfterMs: Math.min(seconds, 300) * 1_000 }),
  }
}

/** What the platform says about a refusal: problem+json, of which only a little is read. */
async function readMessage(response: IncomingMessage): Promise<string> {
  let text = ''
  try {
    for await (const chunk of response) {
      text += chunk
      if (text.length > maxRefusalBytes) break
    }
    const { detail, message, title } = JSON.parse(text)
    return [detail, message, title].find((words) => typeof words === 'string') ?? ''
  } catch {
    return ''
  }
}
