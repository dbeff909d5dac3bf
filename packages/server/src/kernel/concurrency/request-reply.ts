import type { Transferable } from 'node:worker_threads'
import { ApiError } from '../errors.ts'
import type { Channel } from './channel.ts'

/**
 * Request and reply over a message channel: each request has an id, under which come notices and, at last, a value or a
 * failure. The other side is `serveRequests`; whoever wants time-outs and replacement uses `createWorkerPool`.
 */
export type RequestClient<Request, Value, Notice = never> = {
  call(request: Request, options?: CallOptions<Notice>): PendingCall<Value>
  /** Settles with the reason when the other side has ended; all calls that were under way have failed by then. */
  readonly ended: Promise<Error>
}

export type PendingCall<Value> = {
  readonly id: number
  readonly answer: Promise<Value>
  /** Asks the other side to stop; it answers nevertheless, mostly with a failure. */
  cancel(): void
  /** Says something to whoever works on the request. */
  tell(message: unknown): void
}

export type CallOptions<Notice> = {
  readonly transfer?: readonly Transferable[]
  onNotice?(notice: Notice): void
}

export type ToWorker =
  | { readonly id: number; readonly request: unknown }
  | { readonly id: number; readonly cancel: true }
  | { readonly id: number; readonly sent: unknown }

export type FromWorker =
  | { readonly isReady: true }
  | { readonly id: number; readonly notice: unknown }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: Failure }

/** The other side ended before it answered. */
export class WorkerEnded extends Error {
  override name = 'WorkerEnded'
}

type Waiting<Value, Notice> = PromiseWithResolvers<Value> & Pick<CallOptions<Notice>, 'onNotice'>

export function createCaller<Request, Value, Notice = never>(
  channel: Channel,
  onReady: () => void = () => undefined,
): RequestClient<Request, Value, Notice> {
  const waiting = new Map<number, Waiting<Value, Notice>>()
  let lastId = 0
  let end: WorkerEnded | undefined

  channel.listen((received) => {
    const message = received as FromWorker
    if ('isReady' in message) return onReady()
    const call = waiting.get(message.id)
    if ('notice' in message) return call?.onNotice?.(message.notice as Notice)
    waiting.delete(message.id)
    if ('failure' in message) call?.reject(errorOf(message.failure))
    else call?.resolve(message.value as Value)
  })
  const ended = channel.ended.then((cause) => {
    end = new WorkerEnded(cause.message, { cause })
    for (const { reject } of waiting.values()) reject(end)
    waiting.clear()
    return cause
  })

  return {
    ended,
    call(request, { transfer, onNotice } = {}) {
      const id = ++lastId
      const call: Waiting<Value, Notice> = { ...Promise.withResolvers<Value>(), ...(onNotice && { onNotice }) }
      if (end) call.reject(end)
      else {
        waiting.set(id, call)
        channel.send({ id, request } satisfies ToWorker, transfer)
      }
      return {
        id,
        answer: call.promise,
        cancel: () => channel.send({ id, cancel: true } satisfies ToWorker),
        tell: (sent) => channel.send({ id, sent } satisfies ToWorker),
      }
    },
  }
}

/** What is left of an error on its way: errors lose their class between threads. */
export type Failure = {
  readonly message: string
  readonly stack?: string | undefined
  /** Such as a SQLSTATE. */
  readonly code?: string
  /** What a database says of where it was. */
  readonly where?: string
  readonly hint?: string
  /** Of an ApiError. */
  readonly api?: Pick<ApiError, 'code' | 'faults' | 'extensions'>
}

export function failureOf(error: unknown): Failure {
  if (error instanceof ApiError) {
    const { message, code, faults, extensions } = error
    return { message, api: { code, faults, extensions } }
  }
  if (!(error instanceof Error)) return { message: String(error) }
  const { message, stack } = error
  const told = ['code', 'where', 'hint'].flatMap((field) =>
    field in error ? [[field, String(Reflect.get(error, field))]] : [],
  )
  return { message, stack, ...Object.fromEntries(told) }
}

function errorOf({ message, stack, code, where, hint, api }: Failure): Error {
  if (api) return new ApiError(api.code, message, { faults: api.faults, extensions: api.extensions })
  return Object.assign(
    new Error(message),
    stack !== undefined && { stack },
    code !== undefined && { code },
    where !== undefined && { where },
    hint !== undefined && { hint },
  )
}
