// One WebSocket connection to the platform.
import type { IncomingMessage } from 'node:http'
import type { Writable } from 'node:stream'
import { WebSocket } from 'ws'
import type { LinkSettings } from './link-messages.ts'
import { type PlatformFrame, readPlatformFrame, subprotocol, type WorkerFrame } from './protocol.ts'

/** Why a connection ended. */
export type Ending = {
  reason: string
  /** The HTTP status, if the platform refused the WebSocket upgrade. */
  status?: number
  retryAfterMs?: number
}

export type Connection = {
  /** Sends a frame, in order. Frames after the end are dropped. */
  send(frame: WorkerFrame | string): void
  close(): void
  /** Terminates the socket without a close handshake. */
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

/** Opens a connection. `closed` is called exactly once. */
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
  let batchWrites = () => {}
  function send(frame: WorkerFrame | string): void {
    if (socket.readyState !== WebSocket.OPEN) return
    batchWrites()
    socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }
  function welcomed(pingIntervalMs: number): void {
    clearTimeout(silence)
    const silenceTimeoutMs = (pingIntervalMs > 0 ? pingIntervalMs : usualPingIntervalMs) * silentIntervals
    silence = setTimeout(() => cut('the platform stopped sending'), silenceTimeoutMs)
    on.welcomed()
  }

  socket.on('upgrade', (response) => {
    batchWrites = createWriteBatching(response.socket)
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

/** A host with several addresses fails with an AggregateError, which has no message of its own. */
function failure(error: NodeJS.ErrnoException): Ending {
  const each: Error[] = error instanceof AggregateError ? error.errors : [error]
  return { reason: each.map(({ message }) => message).join(', ') || error.code || 'unknown' }
}

/** Corks the socket until the end of the event loop turn, so that frames sent within it share one write. */
function createWriteBatching(wire: Writable): () => void {
  let isCorked = false
  const uncork = () => {
    isCorked = false
    wire.uncork()
  }
  return () => {
    if (isCorked) return
    isCorked = true
    wire.cork()
    setImmediate(uncork)
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
  const message = await readMessage(response)
  return {
    status,
    reason: message === '' ? `the platform answered ${status}` : `the platform answered ${status}: ${message}`,
    ...(seconds > 0 && { retryAfterMs: Math.min(seconds, 300) * 1_000 }),
  }
}

/** The message of a refusal's problem+json; at most a few kilobytes are read. */
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
