import type { Writable } from 'node:stream'
import type { WebSocket } from 'ws'
import { hasLeft } from '../http/request-signal.ts'
import { createJobs, type Jobs } from './jobs.ts'
import type { Limits } from './limits.ts'
import { closeCodes, type Hello, type PlatformFrame, readWorkerFrame } from './protocol.ts'
import { createPulse } from './pulse.ts'
import type { Offer } from './run.ts'

/** Who connected, as the upgrade request says. */
export type Identity = {
  readonly connectionId: string
  readonly agentId: string
  readonly applicationId: string
}

/** Its socket, the stream below it, and the signal of the request that it began as. */
export type Link = { readonly socket: WebSocket; readonly wire: Writable; readonly signal: AbortSignal }

/** A worker's socket after its hello. Slots belong to it and vanish with it. */
export type Connection = Identity & {
  readonly hello: Hello
  readonly connectedAt: Date
  readonly state: {
    /** How many invocations it takes at once. */
    capacity: number
    /** It said that it takes no new work. */
    isDraining: boolean
    /** It was told to connect elsewhere. */
    isGoingAway: boolean
  }
  readonly inFlight: () => number
  /** Has it a free slot and room in its socket? */
  readonly isFree: () => boolean
  readonly offer: Offer
  send(frame: PlatformFrame): void
  /** Asks for a sign of life, and ends the connection when two questions got none. */
  beat(now: number): void
  close(code: number, reason: string): void
}

export type ConnectionEvents = {
  /** The worker introduced itself: it can be given work. */
  onReady(connection: Connection): void
  onChange(connection: Connection): void
  onGone(connection: Connection): void
}

/** More than this in the socket's buffer means that the worker does not read. */
const maxBufferedBytes = 4_194_304

/** Talks to one worker from its first frame to the end of its socket. */
export function serveConnection(
  identity: Identity,
  { socket, wire, signal }: Link,
  limits: Limits,
  events: ConnectionEvents,
): void {
  let connection: Connection | undefined
  const helloTimer = setTimeout(() => close(closeCodes.helloTimeout, 'no hello'), limits.helloMs)
  const gather = createGathering(wire)
  const send = (frame: PlatformFrame): void => {
    gather()
    socket.send(JSON.stringify(frame))
  }
  const breach = () => close(closeCodes.protocol, 'protocol violation')
  const jobs: Jobs = createJobs({ limits, send, breach, onChange: () => connection && events.onChange(connection) })
  const pulse = createPulse(socket, limits, () => jobs.count() > 0)

  function close(code: number, reason: string): void {
    socket.close(code, reason)
    // Whoever does not answer a close is not waited for; what it had is lost at once.
    setTimeout(() => socket.terminate(), 1_000).unref()
    gone()
  }

  function gone(): void {
    clearTimeout(helloTimer)
    socket.removeAllListeners('message')
    jobs.lose()
    if (connection) events.onGone(connection)
    connection = undefined
  }

  function welcome(hello: Hello): void {
    clearTimeout(helloTimer)
    const state = { capacity: hello.concurrency, isDraining: false, isGoingAway: false }
    const isFree = () => !state.isDraining && jobs.count() < state.capacity && socket.bufferedAmount < maxBufferedBytes
    const offer: Offer = (invoke, on) => jobs.offer(hello.workerId, invoke, on)
    const { beat } = pulse
    connection = {
      ...{ ...identity, hello, connectedAt: new Date(), state },
      ...{ inFlight: jobs.count, isFree, offer, send, beat, close },
    }
    send(welcomeFrame(identity, limits))
    events.onReady(connection)
  }

  function read(text: string): void {
    const frame = readWorkerFrame(text)
    if (frame === 'unknown') return
    if (frame === 'broken' || (frame.t === 'hello') !== (connection === undefined)) breach()
    else if (frame.t === 'hello') welcome(frame)
    else if (frame.t === 'drain' || frame.t === 'status') changeState(frame)
    else jobs.read(frame)
  }

  function changeState(frame: { t: 'drain' } | { t: 'status'; concurrency: number }): void {
    if (!connection) return
    if (frame.t === 'drain') connection.state.isDraining = true
    else connection.state.capacity = frame.concurrency
    events.onChange(connection)
  }

  socket.on('message', (data, isBinary) => {
    pulse.hear()
    if (isBinary) breach()
    else read(data.toString())
  })
  const revoke = () => hasLeft(signal.reason) || close(closeCodes.keyRevoked, 'key revoked')
  if (signal.aborted) revoke()
  else signal.addEventListener('abort', revoke, { once: true })
  // ws closes the socket after an error by itself.
  socket.on('error', () => {}).on('close', gone)
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

function welcomeFrame({ connectionId, agentId }: Identity, limits: Limits): PlatformFrame {
  const { pingMs: pingIntervalMs, frameBytes: maxFrameBytes, windowBytes, outputBytes: maxOutputBytes } = limits
  const shown = { maxFrameBytes, windowBytes, maxOutputBytes }
  return { t: 'welcome', connectionId, agentId, pingIntervalMs, limits: shown }
}
