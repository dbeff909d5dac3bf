import { type ChildProcess, fork } from 'node:child_process'
import { extname } from 'node:path'
import type { Readable } from 'node:stream'
import type { TupleBytes } from '../db/db.ts'
import { free, hasOwnMemory } from './memory.ts'
import { answerConversions, type Convert } from './reader-conversion.ts'
import {
  type FileOptions,
  type Opened,
  type ReaderReply,
  type ReaderRequest,
  type RowsSent,
  type RowsWanted,
  rowsDescriptor,
} from './reader-messages.ts'
import { runPortableGdal } from './readers/gdal-run.ts'
import { ReadFault, type ScannedLayer } from './readers/reader.ts'

/** A process that reads one file and is thrown away: whatever the file does to it, the server does not notice. */
export type ReaderProcess = {
  open(file: string, options: FileOptions): Promise<Opened>
  scan(layer: string, onProgress: (fraction: number) => void): Promise<ScannedLayer>
  encode(wanted: RowsWanted, onProgress: (fraction: number) => void): Rows
  /** What a layer is by its beginning; undefined when that cannot be told. */
  guess(layer: string): Promise<ScannedLayer | undefined>
  /** Encodes a layer that was guessed; what is said of it at the end tells whether the rows are whole. */
  load(wanted: RowsWanted, onProgress: (fraction: number) => void): Rows
  /** Ends it, in the middle of whatever it does. */
  end(): Promise<void>
  /** It has ended, by itself or not. */
  readonly ended: Promise<void>
}

export type Rows = { readonly rows: AsyncIterable<TupleBytes>; readonly sent: Promise<RowsSent> }

/** The process ended by itself: out of memory, or worse. */
export class ReaderDied extends Error {
  override name = 'ReaderDied'
}

const childFile = new URL(`./reader-child${extname(import.meta.url)}`, import.meta.url)
const heapMb = 160
const maxErrorLength = 4_000

/** Processes that read files: at most one is started before it is needed. */
export type Readers = {
  /** A file is about to be read. */
  prepare(): void
  /** A process for one file; it ends with the signal. */
  take(signal: AbortSignal): ReaderProcess
  close(): Promise<void>
}

/** For so long one waits that nobody may need: the file was refused, or another server reads it. */
const spareMs = 5_000

/** In milliseconds. A process from which nothing is heard for `stalled` while it is waited for is ended. */
export type Patience = { readonly stalled: number; readonly spare?: number }

/** Compiled code is kept in `cacheDirectory`: the next process starts in a third of the time, with less memory. */
export function createReaders(
  cacheDirectory: string,
  { stalled, spare: keepMs = spareMs }: Patience,
  convert: Convert = runPortableGdal,
): Readers {
  let spare: ReaderProcess | undefined
  let timer: NodeJS.Timeout | undefined
  function takeSpare(): ReaderProcess | undefined {
    const taken = spare
    clearTimeout(timer)
    spare = undefined
    return taken
  }
  /** What prevents it now, want of memory for instance, is told when one is needed. */
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

function startReader(cacheDirectory: string, stalledMs: number, convert: Convert): ReaderProcess {
  const child = fork(childFile, {
    execArgv: [`--max-old-space-size=${heapMb}`, '--max-semi-space-size=4'],
    // Nothing of the server's settings, which hold secrets.
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', TZ: 'UTC', NODE_COMPILE_CACHE: cacheDirectory },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
    // A group of its own: what it starts ends with it.
    detached: true,
  })
  const watchdog = createWatchdog(stalledMs, () => {
    fail(new ReadFault('read_timeout', `Reading the file made no progress for ${stalledMs / 1000} s and was stopped.`))
    kill()
  })
  const { call, fail, ended } = conversation(child, watchdog)
  const pipe = createPipe(child.stdio[rowsDescriptor] as Readable, watchdog)
  const kill = (): void => {
    if (child.exitCode === null && child.signalCode === null) killGroup(child)
  }
  void ended.then(watchdog.end)
  const ask = (request: ReaderRequest, onProgress?: (fraction: number) => void): Promise<unknown> =>
    watchdog.await(call(request, onProgress))
  let directory: string | undefined
  answerConversions(child, convert, () => directory)
  // Should it end by itself, what it started does not outlive it.
  child.once('exit', () => killGroup(child))

  function rowsOf(request: ReaderRequest, onProgress: (fraction: number) => void): Rows {
    const sent = call(request, onProgress) as Promise<RowsSent>
    sent.catch(() => undefined)
    return { rows: rowsUntil(sent, pipe), sent }
  }

  return {
    open: (file, options) => {
      directory = options.directory
      return ask({ kind: 'open', file, options }) as Promise<Opened>
    },
    scan: (layer, onProgress) => ask({ kind: 'scan', layer }, onProgress) as Promise<ScannedLayer>,
    encode: (wanted, onProgress) => rowsOf({ kind: 'encode', ...wanted }, onProgress),
    guess: (layer) => ask({ kind: 'guess', layer }) as Promise<ScannedLayer | undefined>,
    load: (wanted, onProgress) => rowsOf({ kind: 'load', ...wanted }, onProgress),
    ended,
    async end() {
      kill()
      await ended
      for (const stream of child.stdio) stream?.destroy()
    },
  }
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch {
    child.kill('SIGKILL')
  }
}

/**
 * Notices that a process makes no progress: the rows that it sends, and progress that grows, are signs of life. Only while the
 * server waits for it: a database that is slow to take the rows is no fault of the file. It costs nothing for a row.
 */
type Watchdog = {
  await<T>(promise: Promise<T>): Promise<T>
  hear(): void
  end(): void
}

function createWatchdog(stalledMs: number, onStalled: () => void): Watchdog {
  let heardAt = 0
  let waiting = 0
  const look = (): void => {
    if (waiting > 0 && performance.now() - heardAt > stalledMs) onStalled()
  }
  const timer = setInterval(look, Math.min(1_000, stalledMs / 4)).unref()
  const hear = (): void => {
    heardAt = performance.now()
  }
  return {
    hear,
    async await(promise) {
      hear()
      waiting++
      try {
        return await promise
      } finally {
        waiting--
      }
    },
    end: () => clearInterval(timer),
  }
}

type Waiter = { resolve(value: unknown): void; reject(error: unknown): void; onProgress?: (fraction: number) => void }

function conversation(child: ChildProcess, watchdog: Watchdog) {
  let reached = -1
  let waiter: Waiter | undefined
  let over: ReaderDied | undefined
  let complaint = ''
  const settle = (): Waiter | undefined => {
    const settled = waiter
    waiter = undefined
    return settled
  }
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-maxErrorLength)
  })
  child.on('message', (reply: ReaderReply) => {
    if (reply.kind === 'progress') {
      if (reply.fraction > reached) watchdog.hear()
      reached = Math.max(reached, reply.fraction)
      waiter?.onProgress?.(reply.fraction)
    } else if (reply.kind === 'done') settle()?.resolve(reply.value)
    else if (reply.kind === 'fault') settle()?.reject(new ReadFault(reply.code, reply.message, reply.place))
    else if (reply.kind === 'error') settle()?.reject(unreadable(reply.message))
  })
  const ended = new Promise<void>((resolve) => {
    const finish = (reason: unknown): void => {
      over ??= new ReaderDied(`The process that read the file ended (${reason}). ${complaint}`.trim())
      settle()?.reject(over)
      resolve()
    }
    // Not when its pipes are closed too: nobody may be reading them.
    child.once('exit', (code, name) => finish(name ?? code))
    child.once('error', finish)
  })
  const call = (request: ReaderRequest, onProgress?: (fraction: number) => void): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (over) return reject(over)
      reached = -1
      waiter = { resolve, reject, ...(onProgress && { onProgress }) }
      child.send(request, (error) => error && settle()?.reject(new ReaderDied(error.message)))
    })
  const fail = (error: ReadFault): void => settle()?.reject(error)
  return { call, fail, ended }
}

/** Whatever it stumbled over it would stumble over again. What it says of it is for the log. */
const unreadable = (message: string): ReadFault =>
  new ReadFault('invalid_file', 'The file cannot be read.', {}, new Error(message))

async function* rowsUntil(done: Promise<unknown>, pipe: Pipe): AsyncGenerator<TupleBytes> {
  // What the reader fails with ends the waiting for rows too.
  const failed = new Promise<never>((_, reject) => done.catch(reject))
  failed.catch(() => undefined)
  for (;;) {
    let missing = await pipe.readLength(failed)
    if (missing === 0) break
    while (missing > 0) {
      const bytes = await pipe.read(missing, failed)
      missing -= bytes.length
      yield { bytes, isEnd: missing === 0 }
    }
  }
  await done
}

type Pipe = {
  readLength(failed: Promise<never>): Promise<number>
  /** What there is of so many bytes, at least one, without a copy; good until there is more read. */
  read(most: number, failed: Promise<never>): Promise<Buffer>
}

function createPipe(stream: Readable, watchdog: Watchdog): Pipe {
  const pieces = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let piece: Buffer = Buffer.alloc(0)
  let rest = piece

  async function read(most: number, failed: Promise<never>): Promise<Buffer> {
    if (rest.length === 0) {
      if (hasOwnMemory(piece)) free(piece.buffer)
      const { value, done: isOver } = await watchdog.await(Promise.race([pieces.next(), failed]))
      if (isOver) throw new ReaderDied('The process that read the file ended before it had sent all rows.')
      piece = value
      rest = piece
    }
    const bytes = rest.subarray(0, most)
    rest = rest.subarray(bytes.length)
    return bytes
  }

  return {
    read,
    async readLength(failed) {
      let length = 0
      for (let missing = 4; missing > 0; ) {
        const bytes = await read(missing, failed)
        for (const byte of bytes) length = length * 256 + byte
        missing -= bytes.length
      }
      return length
    },
  }
}
