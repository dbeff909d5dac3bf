import type { ChildProcess } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { type CallOptions, createExchange, type Exchange } from './exchange.ts'
import { DuckdbFault } from './fault.ts'
import type { DatabaseAddress, Reply, Request, Task } from './messages.ts'
import { spawnChild } from './spawn-child.ts'

/** The process that reads the files of one tenant: request and reply with numbers, and an end that is noticed. */
export type TenantProcess = {
  begin(database: DatabaseAddress, task: Task, options: CallOptions): Exchange
  /** How many requests have no last reply yet. */
  readonly running: number
  /** It takes no more requests. */
  readonly isEnded: boolean
  /** Ends it, in the middle of whatever it does. */
  end(): Promise<void>
}

export type ProcessOptions = {
  /** One for this process is made below it. */
  readonly temporaryDirectory: string
  readonly memoryMb: number
  readonly threads: number
  readonly graceMs: number
  readonly onError: (error: unknown) => void
  /** The process died while it opened this file. */
  readonly onFatalFile: (file: string) => void
  /** Nothing is running any more. */
  readonly onIdle: () => void
}

/** Of what a process wrote to stderr, at its beginning and at its end: DuckDB's message comes before a long stack of C++ names. */
const maxStderrCharacters = 2_000
const maxStartMs = 60_000

export function startProcess(options: ProcessOptions): TenantProcess {
  const { temporaryDirectory, memoryMb, threads, graceMs, onIdle } = options
  const directory = mkdtempSync(join(temporaryDirectory, `${directoryPrefix}${process.pid}-`))
  const child = spawnChild({ directory, memoryMb, threads })
  const exchanges = new Map<number, Exchange>()
  let lastId = 0
  let wasKilled = false
  let isBroken = false
  let isExhausted = false
  const { ended, isEnded } = watchEnd(child, options, {
    async onEnd(reason) {
      const message = wasKilled ? stoppedMessage : endedMessage
      const fault = new DuckdbFault('ended', message, { cause: reason, isBystander: wasKilled })
      for (const exchange of [...exchanges.values()]) exchange.fail(fault)
      await rm(directory, { recursive: true, force: true }).catch(options.onError)
    },
    isExpected: () => wasKilled && !isBroken,
  })
  const ready = whenReady(child, kill)
  child.on('message', (reply: Reply) => {
    // What a query without enough memory leaves allocated or fragmented may be too much for the next one.
    if (reply.kind === 'fault' && reply.code === 'memory') isExhausted = true
    if ('id' in reply) exchanges.get(reply.id)?.receive(reply)
    // DuckDB is broken in there, and nothing more is asked of it.
    if (reply.kind === 'fault' && reply.code === 'ended') {
      isBroken = true
      kill()
    }
  })
  function kill(): void {
    wasKilled = true
    if (!isEnded()) child.kill('SIGKILL')
  }
  function over(id: number): void {
    exchanges.delete(id)
    if (exchanges.size > 0) return
    keepAlive(child, false)
    if (isExhausted) kill()
    else onIdle()
  }
  keepAlive(child, false)

  return {
    begin(database, task, callOptions) {
      const id = ++lastId
      const exchange = createExchange(
        {
          ready,
          graceMs,
          more: () => send(child, { id, kind: 'more' }),
          cancel: () => send(child, { id, kind: 'cancel' }),
          kill,
          over: () => over(id),
        },
        callOptions,
      )
      exchanges.set(id, exchange)
      keepAlive(child, true)
      send(child, { id, kind: 'begin', database, task })
      return exchange
    },
    get running() {
      return exchanges.size
    },
    get isEnded() {
      return wasKilled || isEnded()
    },
    end() {
      // Whoever waits for the end is not to end first.
      keepAlive(child, true)
      kill()
      return ended
    },
  }
}

function send(child: ChildProcess, request: Request): void {
  if (child.connected) child.send(request, () => undefined)
}

/** Until the process reads what it is sent. */
function whenReady(child: ChildProcess, onLate: () => void): Promise<void> {
  const late = setTimeout(onLate, maxStartMs).unref()
  return new Promise((resolve) => {
    child.on('message', (reply: Reply) => {
      if (reply.kind !== 'ready') return
      clearTimeout(late)
      resolve()
    })
  })
}

/** The server's process id follows, so that those of a server that is gone can be told. */
export const directoryPrefix = 'duckdb-'

const endedMessage =
  'The process that reads these files ended while the query ran: a file or a query was too much for it. Try again.'
const stoppedMessage =
  'Another query of this application could only be stopped by ending its process, and this one with it. Try again.'

type End = { onEnd(reason: Error): Promise<void>; isExpected(): boolean }

function watchEnd(child: ChildProcess, { onError, onFatalFile }: ProcessOptions, { onEnd, isExpected }: End) {
  let isEnded = false
  let firstErrors = ''
  let lastErrors = ''
  let opening: string | null = null
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    const room = maxStderrCharacters - firstErrors.length
    firstErrors += text.slice(0, room)
    lastErrors = (lastErrors + text.slice(room)).slice(-maxStderrCharacters)
  })
  child.on('message', (reply: Reply) => {
    if (reply.kind === 'opening') opening = reply.file
  })
  const ended = new Promise<void>((resolve) => {
    const finish = (how: unknown): void => {
      if (isEnded) return
      isEnded = true
      const reason = new Error(`A DuckDB process ended (${how}). ${firstErrors}${lastErrors}`.trim())
      if (opening !== null) onFatalFile(opening)
      if (!isExpected()) onError(reason)
      resolve(onEnd(reason))
    }
    child.once('exit', (code, signal) => finish(signal ?? code))
    child.once('error', finish)
  })
  return { ended, isEnded: () => isEnded }
}

/** A process without work does not keep the server from ending. */
function keepAlive(child: ChildProcess, isNeeded: boolean): void {
  const act = isNeeded ? 'ref' : 'unref'
  child[act]()
  child.channel?.[act]()
  ;(child.stderr as Socket | null)?.[act]()
}
