import { parentPort, type Transferable, workerData } from 'node:worker_threads'
import type { ThreadData } from './channel.ts'
import { type FromWorker, failureOf, type ToWorker } from './request-reply.ts'
import { keepBeating, noteJob } from './thread-watchdog.ts'

/** The side of request and reply that answers, in a worker thread or a child process. */
export type RequestContext = {
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal
  /** Something on the way to the answer. */
  notify(notice: unknown, transfer?: readonly Transferable[]): void
  /** Called with messages that the caller sends while the request is worked on. */
  onMessage(listener: (message: unknown) => void): void
  /** Memory that goes along with the answer instead of being copied. */
  readonly transfer: Transferable[]
  /** From here on the thread is at this request: should it not come back, this one is to blame. */
  atWork(): void
}

type RunningRequest = { readonly leaving: AbortController; onMessage?: (message: unknown) => void }

/** Begins to answer. What `handle` throws is the caller's to know; several requests may be under way at once. */
export function serveRequests<Request>(handle: (request: Request, context: RequestContext) => unknown): void {
  const running = new Map<number, RunningRequest>()
  const heartbeat = parentPort ? (workerData as ThreadData).heartbeat : undefined
  if (heartbeat) keepBeating(heartbeat)

  async function answer(id: number, request: Request): Promise<void> {
    const leaving = new AbortController()
    const one: RunningRequest = { leaving }
    const transfer: Transferable[] = []
    running.set(id, one)
    try {
      const value = await handle(request, {
        signal: leaving.signal,
        transfer,
        notify: (notice, memory) => send({ id, notice }, memory),
        onMessage(listener) {
          one.onMessage = listener
        },
        atWork: () => heartbeat && noteJob(heartbeat, id),
      })
      send({ id, value }, transfer)
    } catch (error) {
      send({ id, failure: failureOf(error) })
    } finally {
      running.delete(id)
    }
  }

  receive((message) => {
    if ('request' in message) return void answer(message.id, message.request as Request)
    const one = running.get(message.id)
    if ('cancel' in message) one?.leaving.abort()
    else one?.onMessage?.(message.sent)
  })
  send({ isReady: true })
}

function send(message: FromWorker, transfer: readonly Transferable[] = []): void {
  if (parentPort) parentPort.postMessage(message, [...transfer])
  else process.send?.(message)
}

function receive(onMessage: (message: ToWorker) => void): void {
  if (parentPort) parentPort.on('message', onMessage)
  else process.on('message', onMessage)
}
