// Sandboxed reader processes.
import { type ChildProcess, fork } from 'node:child_process'
import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import { processChannel } from '../../../kernel/concurrency/channel.ts'
import { lowerProcessPriority } from '../../../kernel/concurrency/priority.ts'
import { createCaller, WorkerEnded } from '../../../kernel/concurrency/request-reply.ts'
import type { TupleBytes } from '../../../kernel/db/db.ts'
import { runPortableGdal } from '../readers/gdal/run.ts'
import { type OnReading, ReadFault, type ScannedLayer } from '../readers/reader.ts'
import { convertFor, type GdalConversion } from './reader-conversion.ts'
import {
  type FileOptions,
  type FileSummary,
  type ReaderAnswer,
  type ReaderNotice,
  type ReaderRequest,
  type RowsRequest,
  type RowsSent,
  readFaultOf,
  rowsDescriptor,
  type SampleRow,
} from './reader-messages.ts'
import { createRowPipe, rowsUntil } from './reader-rows.ts'
import { createStallWatchdog } from './stall-watchdog.ts'

/**
 * A process that reads one file and is then discarded: a crash or hang does not affect the server. It is no pool
 * worker, because it keeps its file open and is killed afterwards.
 */
export type ReaderProcess = {
  open(file: string, options: FileOptions): Promise<FileSummary>
  scan(layer: string, onProgress: OnReading): Promise<ScannedLayer>
  encode(wanted: RowsRequest, onProgress: OnReading): ReaderRows
  /** The layer's schema inferred from its beginning; undefined if that is impossible. */
  guess(layer: string): Promise<ScannedLayer | undefined>
  /** Encodes a layer with the guessed schema; its final message tells whether the guess held for all rows. */
  load(wanted: RowsRequest, onProgress: OnReading): ReaderRows
  /** The first rows of a layer that was scanned or guessed. */
  sample(wanted: RowsRequest & { readonly count: number }): Promise<SampleRow[]>
  /** Kills the process at any point. */
  end(): Promise<void>
  /** Resolves when the process has ended for any reason. */
  readonly ended: Promise<void>
}

export type ReaderRows = { readonly rows: AsyncIterable<TupleBytes>; readonly sent: Promise<RowsSent> }

/** The process ended unexpectedly, for instance out of memory. */
export class ReaderDied extends Error {
  override name = 'ReaderDied'
}

const childFile = new URL(`./reader-child${extname(import.meta.url)}`, import.meta.url)
const heapMb = 160
const maxErrorLength = 4_000

/** Starts reader processes; at most one in advance. */
export type Readers = {
  /** Announces that a file will be read soon. */
  prepare(): void
  /** A process for one file; the signal ends it. */
  take(signal: AbortSignal): ReaderProcess
  close(): Promise<void>
}

/** How long a spare process is kept: the file may be refused, or read by another replica. */
const spareMs = 5_000

/** In milliseconds. A process that sends nothing for `stalled` while the server waits for it is killed. */
export type ReaderTimeouts = { readonly stalled: number; readonly spare?: number }

/** Compiled code is cached in `cacheDirectory`: the next process starts in a third of the time, with less memory. */
export function createReaders(
  cacheDirectory: string,
  { stalled, spare: keepMs = spareMs }: ReaderTimeouts,
  convert: GdalConversion = runPortableGdal,
): Readers {
  let spare: ReaderProcess | undefined
  let timer: NodeJS.Timeout | undefined
  function takeSpare(): ReaderProcess | undefined {
    const taken = spare
    clearTimeout(timer)
    spare = undefined
    return taken
  }
  /** Ignores a failed start (out of memory, for instance); it is reported when a process is needed. */
  function startedOrNone(): ReaderProcess | undefined {
    try {
      return startReader(cacheDirectory, stalled, convert)
    } catch {
      return undefined
    }
  }
  return {
    prepare() {
      if (spare) return void timer?.refresh()
      const reader = startedOrNone()
      if (!reader) return
      spare = reader
      timer = setTimeout(() => takeSpare()?.end(), keepMs).unref()
      void reader.ended.then(() => spare === reader && takeSpare())
    },
    take(signal) {
      signal.throwIfAborted()
      const reader = takeSpare() ?? startReader(cacheDirectory, stalled, convert)
      const end = (): void => void reader.end()
      signal.addEventListener('abort', end, { once: true })
      void reader.ended.then(() => signal.removeEventListener('abort', end))
      return reader
    },
    close: async () => takeSpare()?.end(),
  }
}

function startReader(cacheDirectory: string, stalledMs: number, convert: GdalConversion): ReaderProcess {
  const child = forkReader(cacheDirectory)
  const caller = createCaller<ReaderRequest, ReaderAnswer, ReaderNotice>(processChannel(child))
  const errorText = stderrTail(child)
  const leaving = new AbortController()
  const { signal } = leaving
  let stalled: ReadFault | undefined
  const kill = (): void => {
    if (child.exitCode === null && child.signalCode === null) killGroup(child)
  }
  const watchdog = createStallWatchdog(stalledMs, () => {
    stalled = new ReadFault(
      'read_timeout',
      `Reading the file made no progress for ${stalledMs / 1000} s and was stopped.`,
    )
    kill()
  })
  const pipe = createRowPipe(child.stdio[rowsDescriptor] as Readable, watchdog)
  const ended = caller.ended.then(() => {
    watchdog.end()
    leaving.abort()
    // The process may have exited by itself; kill its children too.
    killGroup(child)
  })

  /** Treated as a fault of the file, because a retry would fail in the same way. Details go to the log only. */
  const failureOf = (error: Error): Error =>
    error instanceof WorkerEnded
      ? (stalled ?? new ReaderDied(`${error.message} ${errorText()}`.trim()))
      : new ReadFault('invalid_file', 'The file cannot be read.', {}, error)

  async function call<T>(request: ReaderRequest, onProgress?: OnReading): Promise<T> {
    const directory = request.kind === 'open' ? request.options.directory : undefined
    let reached = -1
    const { answer, tell } = caller.call(request, {
      onNotice(notice) {
        if (notice.kind === 'convert') return convertFor(convert, notice.task, { directory, signal, tell })
        if (notice.fraction > reached) watchdog.hear()
        reached = Math.max(reached, notice.fraction)
        onProgress?.(notice.fraction, notice.rows)
      },
    })
    const result = await answer.catch((error) => {
      throw failureOf(error)
    })
    if ('fault' in result) throw readFaultOf(result.fault)
    return result.value as T
  }

  function rowsOf(request: ReaderRequest, onProgress: OnReading): ReaderRows {
    const sent = call<RowsSent>(request, onProgress)
    sent.catch(() => undefined)
    return { rows: rowsUntil(sent, pipe), sent }
  }

  return {
    open: (file, options) => watchdog.await(call<FileSummary>({ kind: 'open', file, options })),
    scan: (layer, onProgress) => watchdog.await(call<ScannedLayer>({ kind: 'scan', layer }, onProgress)),
    encode: (wanted, onProgress) => rowsOf({ kind: 'encode', ...wanted }, onProgress),
    guess: (layer) => watchdog.await(call<ScannedLayer | undefined>({ kind: 'guess', layer })),
    sample: (wanted) => watchdog.await(call<SampleRow[]>({ kind: 'sample', ...wanted })),
    load: (wanted, onProgress) => rowsOf({ kind: 'load', ...wanted }, onProgress),
    ended,
    async end() {
      kill()
      await ended
      for (const stream of child.stdio) stream?.destroy()
    },
  }
}

function forkReader(cacheDirectory: string): ChildProcess {
  const child = fork(childFile, {
    execArgv: [`--max-old-space-size=${heapMb}`, '--max-semi-space-size=4'],
    // None of the server's environment, which holds secrets.
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', TZ: 'UTC', NODE_COMPILE_CACHE: cacheDirectory },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
    // Its own process group, so that its children can be killed with it.
    detached: true,
  })
  return lowerProcessPriority(child)
}

/** The end of its standard error, to explain why it exited. */
function stderrTail({ stderr }: ChildProcess): () => string {
  let tail = ''
  stderr?.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-maxErrorLength)
  })
  return () => tail
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch {
    child.kill('SIGKILL')
  }
}
