import type { Writable } from 'node:stream'
import type { WebSocket } from 'ws'
import { hasLeft } from '../../api/http/request-signal.ts'
import type { Offer } from '../invocation/offer.ts'
import type { AgentLimits } from '../limits.ts'
import { closeCodes, type Hello, type PlatformFrame, readWorkerFrame } from '../protocol.ts'
import { readFrames } from './frame-queue.ts'
import { createHeartbeat } from './heartbeat.ts'
import { createWorkerSlots, type WorkerSlots } from './worker-slots.ts'

/** Which connection this is, and for which agent. */
export type WorkerIdentity = {
  readonly connectionId: string
  readonly agentId: string
  readonly applicationId: string
}

/** The socket, the TCP stream below it, and the signal of the upgrade request. */
export type WorkerLink = { readonly socket: WebSocket; readonly wire: Writable; readonly signal: AbortSignal }

/** The WebSocket of a worker after its `hello`. Its slots end with it. */
export type WorkerConnection = WorkerIdentity & {
  readonly hello: Hello
  readonly connectedAt: Date
  readonly state: {
    /** The number of invocations that it takes at once. */
    capacity: number
    /** It asked for no new work. */
    isDraining: boolean
    /** It was told to connect to another replica. */
    isGoingAway: boolean
  }
  readonly inFlight: () => number
  /** Has it a free slot, and room in its socket's buffer (back-pressure)? */
  readonly isFree: () => boolean
  readonly offer: Offer
  send(frame: PlatformFrame): void
  /** See `Heartbeat`. */
  beat(now: number): void
  close(code: number, reason: string): void
}

export type ConnectionEvents = {
  /** The worker sent its `hello`: it can be given work. */
  onReady(connection: WorkerConnection): void
  onChange(connection: WorkerConnection): void
  onGone(connection: WorkerConnection): void
}

/** A worker with more than this in its socket's buffer does not read, and gets no new work. */
const maxBufferedBytes = 4_194_304

/** Serves one worker from its first frame to the end of its socket. */
export function serveConnection(
  identity: WorkerIdentity,
  { socket, wire, signal }: WorkerLink,
  limits: AgentLimits,
  events: ConnectionEvents,
): void {
  let connection: WorkerConnection | undefined
  const helloTimer = setTimeout(() => close(closeCodes.helloTimeout, 'no hello'), limits.helloMs)
  const batchWrites = createWriteBatching(wire)
  const send = (frame: PlatformFrame): void => {
    batchWrites()
    socket.send(JSON.stringify(frame))
  }
  const breach = () => close(closeCodes.protocol, 'protocol violation')
  const onChange = () => connection && events.onChange(connection)
  const slots: WorkerSlots = createWorkerSlots({ limits, send, breach, onChange })
  const heartbeat = createHeartbeat(socket, limits, () => slots.count() > 0)

  function close(code: number, reason: string): void {
    socket.close(code, reason)
    // A worker that does not answer the close frame is not waited for.
    setTimeout(() => socket.terminate(), 1_000).unref()
    gone()
  }

  function gone(): void {
    clearTimeout(helloTimer)
    stopReading()
    slots.lose(connection?.state.isGoingAway ?? false)
    if (connection) events.onGone(connection)
    connection = undefined
  }

  function welcome(hello: Hello): void {
    clearTimeout(helloTimer)
    const state = { capacity: hello.concurrency, isDraining: false, isGoingAway: false }
    const isFree = () => !state.isDraining && slots.count() < state.capacity && socket.bufferedAmount < maxBufferedBytes
    const offer: Offer = (invoke, on) => slots.offer(hello.workerId, invoke, on)
    const { beat } = heartbeat
    const functions = { inFlight: slots.count, isFree, offer, send, beat, close }
    connection = { ...identity, hello, connectedAt: new Date(), state, ...functions }
    send(welcomeFrame(identity, limits))
    events.onReady(connection)
  }

  function read(bytes: Buffer | undefined): void {
    heartbeat.noteActivity()
    const frame = bytes ? readWorkerFrame(bytes) : 'broken'
    if (frame === 'unknown') return
    if (frame === 'broken' || (frame.t === 'hello') !== (connection === undefined)) breach()
    else if (frame.t === 'hello') welcome(frame)
    else if (frame.t === 'drain' || frame.t === 'status') changeState(frame)
    else slots.read(frame)
  }

  function changeState(frame: { t: 'drain' } | { t: 'status'; concurrency: number }): void {
    if (!connection) return
    if (frame.t === 'drain') connection.state.isDraining = true
    else connection.state.capacity = frame.concurrency
    events.onChange(connection)
  }

  const stopReading = readFrames(socket, read)
  const revoke = () => hasLeft(signal.reason) || close(closeCodes.keyRevoked, 'key revoked')
  if (signal.aborted) revoke()
  else signal.addEventListener('abort', revoke, { once: true })
  // After an error, ws closes the socket itself.
  socket.on('error', () => {}).on('close', gone)
}

/** Write batching: frames sent within one turn of the event loop leave in one packet. */
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

function welcomeFrame({ connectionId, agentId }: WorkerIdentity, limits: AgentLimits): PlatformFrame {
  const { pingMs: pingIntervalMs, frameBytes: maxFrameBytes, windowBytes, outputBytes: maxOutputBytes } = limits
  const shown = { maxFrameBytes, windowBytes, maxOutputBytes }
  return { t: 'welcome', connectionId, agentId, pingIntervalMs, limits: shown }
}
