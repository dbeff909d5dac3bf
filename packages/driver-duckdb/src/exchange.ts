import { DuckdbFault } from './fault.ts'
import type { Cell, DuckdbColumn, TaskReply } from './messages.ts'

/** One request to a tenant's process and its replies: a time-out, cancelling, back-pressure. */

export type CallOptions = { readonly signal?: AbortSignal; readonly timeoutMs?: number }

export type StartedQuery<Batch = Cell[][]> = {
  readonly columns: readonly DuckdbColumn[]
  /** To be read to its end, or left by `break`, or aborted: the query runs until then. */
  readonly batches: AsyncIterable<Batch>
}

/** A reply → the batch in it; undefined where it has none. */
export type ReadBatch<Batch> = (reply: TaskReply) => Batch | undefined

export type Exchange = {
  receive(reply: TaskReply): void
  /** There will be no reply. */
  fail(error: unknown): void
  answer(): Promise<unknown>
  start<Batch>(read: ReadBatch<Batch>): Promise<StartedQuery<Batch>>
}

/** What an exchange does to the process. `kill` ends it: cancelling did not help within `graceMs`. */
export type Line = {
  readonly ready: Promise<void>
  readonly graceMs: number
  more(): void
  cancel(): void
  kill(): void
  over(): void
}

const defaultTimeoutMs = 30_000

export function createExchange(line: Line, { signal, timeoutMs = defaultTimeoutMs }: CallOptions): Exchange {
  const inbox = createInbox(timeoutMs, () => stop(late(timeoutMs)))
  let isOver = false
  let isStopping = false
  let killing: NodeJS.Timeout | undefined

  const onAbort = (): void => stop(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })

  function finish(): void {
    if (isOver) return
    isOver = true
    clearTimeout(killing)
    signal?.removeEventListener('abort', onAbort)
    line.over()
  }

  /** Whoever waits is told at once; the process has a second to let go, from when it could hear of it. */
  function stop(error: unknown): void {
    inbox.fail(error)
    if (isOver || isStopping) return
    isStopping = true
    line.cancel()
    void line.ready.then(() => {
      if (!isOver) killing = setTimeout(line.kill, line.graceMs)
    })
  }

  async function* batches<Batch>(read: ReadBatch<Batch>): AsyncGenerator<Batch> {
    try {
      for (let reply = await inbox.next(); reply.kind !== 'done'; reply = await inbox.next()) {
        const batch = read(reply)
        if (batch === undefined) throw unexpected()
        line.more()
        yield batch
      }
    } finally {
      stop(left())
    }
  }

  return {
    receive(reply) {
      if (reply.kind === 'done' || reply.kind === 'fault') finish()
      inbox.receive(reply)
    },
    fail(error) {
      finish()
      inbox.fail(error)
    },
    async answer() {
      const reply = await inbox.next()
      if (reply.kind !== 'done') throw unexpected()
      return reply.value
    },
    async start(read) {
      const reply = await inbox.next()
      if (reply.kind !== 'columns') throw unexpected()
      return { columns: reply.columns, batches: leavable(batches(read), () => stop(left())) }
    },
  }
}

/** A generator that is left before its first step does not run its `finally`. */
function leavable<T>(generator: AsyncGenerator<T>, onLeave: () => void): AsyncIterableIterator<T> {
  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next: () => generator.next(),
    return(value) {
      onLeave()
      return generator.return(value)
    },
  }
}

const left = (): Error => new Error('The answer was left before its end.')

type Inbox = { receive(reply: TaskReply): void; fail(error: unknown): void; next(): Promise<TaskReply> }

/** The clock runs only while a reply is waited for: a slow reader of rows takes no time from its query. */
function createInbox(timeoutMs: number, onLate: () => void): Inbox {
  const replies: TaskReply[] = []
  let waiter: { resolve(reply: TaskReply): void; reject(error: unknown): void } | undefined
  let failure: { readonly error: unknown } | undefined
  let remainingMs = timeoutMs

  async function waited(): Promise<TaskReply> {
    if (failure) throw failure.error
    const since = performance.now()
    const timer = setTimeout(onLate, Math.max(0, remainingMs))
    try {
      return await new Promise<TaskReply>((resolve, reject) => {
        waiter = { resolve, reject }
      })
    } finally {
      clearTimeout(timer)
      remainingMs -= performance.now() - since
    }
  }

  return {
    receive(reply) {
      if (failure) return
      if (!waiter) return void replies.push(reply)
      waiter.resolve(reply)
      waiter = undefined
    },
    fail(error) {
      failure ??= { error }
      replies.length = 0
      waiter?.reject(failure.error)
      waiter = undefined
    },
    async next() {
      const reply = replies.shift() ?? (await waited())
      if (reply.kind === 'fault') throw new DuckdbFault(reply.code, reply.message)
      return reply
    },
  }
}

const late = (timeoutMs: number): DuckdbFault =>
  new DuckdbFault('timeout', `The query took longer than ${timeoutMs / 1000} s and was stopped.`)

const unexpected = (): DuckdbFault =>
  new DuckdbFault('ended', 'The process that reads the files sent an unknown reply.')
