import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Hello, Invoke, PlatformFrame, WorkerFrame } from '../src/agents/protocol.ts'

type Cancel = Extract<PlatformFrame, { t: 'cancel' }>
type Going = Extract<PlatformFrame, { t: 'goaway' }>

/** What a handler can do besides sending frames of its own. */
export type WorkerJob = {
  readonly invoke: Invoke
  readonly worker: TestWorker
  send(frame: Omit<WorkerFrame, 'id'> & Record<string, unknown>): void
  /** Settles when the platform cancels the job. */
  readonly cancelled: Promise<string>
}

export type TestWorker = Awaited<ReturnType<typeof connectWorker>>

export type WorkerOptions = {
  url: string
  key: string
  agentId: string
  workerId?: string
  concurrency?: number
  headers?: Record<string, string>
  /** Sends nothing by itself, not even `hello`. */
  mute?: boolean
  onGoaway?(frame: Going): void
  handle?(job: WorkerJob): unknown
}

/** Answers with the input. */
export function echo({ invoke, send }: WorkerJob): void {
  send({ t: 'accept' })
  send({ t: 'delta', text: invoke.input })
  send({ t: 'done' })
}

/** A worker as the wire sees it: no SDK, so that it can do everything wrong. */
export async function connectWorker(options: WorkerOptions) {
  const { url, key, agentId, workerId = 'worker', concurrency = 8, mute = false, onGoaway, handle = echo } = options
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/agents/${agentId}/connect`, 'svc.agent.v1', {
    headers: { 'x-api-key': key, ...options.headers },
  })
  const frames: PlatformFrame[] = []
  const cancels = new Map<string, (reason: string) => void>()
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }))
  })
  const send = (frame: object) => socket.send(JSON.stringify(frame))
  const worker = { socket, frames, closed, send, close: () => socket.close(1000), kill: () => socket.terminate() }

  function cancel({ id, reason }: Cancel): void {
    cancels.get(id)?.(reason)
    cancels.delete(id)
  }
  function begin(invoke: Invoke): void {
    const cancelled = new Promise<string>((resolve) => void cancels.set(invoke.id, resolve))
    void handle({ invoke, worker, cancelled, send: (frame) => send({ ...frame, id: invoke.id }) })
  }
  const welcomed = new Promise<void>((resolve, reject) => {
    socket.on('message', (data) => {
      const frame = JSON.parse(data.toString()) as PlatformFrame
      frames.push(frame)
      if (frame.t === 'welcome') resolve()
      if (frame.t === 'invoke') begin(frame)
      if (frame.t === 'cancel') cancel(frame)
      if (frame.t === 'goaway') onGoaway?.(frame)
    })
    socket.once('error', reject)
    closed.then(({ code, reason }) => reject(new Error(`closed ${code} ${reason}`)))
  })
  if (mute) {
    welcomed.catch(() => {})
    await once(socket, 'open')
    return worker
  }
  socket.once('open', () => send({ t: 'hello', protocol: 1, workerId, concurrency, sdk: 'test' } satisfies Hello))
  await welcomed
  return worker
}
