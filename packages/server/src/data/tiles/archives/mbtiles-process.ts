// A child process that reads MBTiles, restarted on demand.
import { fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Channel, processChannel } from '../../../kernel/concurrency/channel.ts'
import { createWorkerPool } from '../../../kernel/concurrency/worker-pool.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { limits, overLimit } from '../../../kernel/limits/limits.ts'
import type { MbtilesCommand, MbtilesFile, MbtilesSummary } from './mbtiles-protocol.ts'
import { broken } from './tile-content.ts'

type Outcome = Uint8Array | MbtilesSummary | undefined

/** Starts when needed; ends when idle or when a file makes it hang. */
export type MbtilesProcess = {
  call(command: MbtilesCommand, signal?: AbortSignal): Promise<Outcome>
  /** Closes a file if it is open. */
  forget(file: MbtilesFile): Promise<void>
  /** Ends the process if it is idle, and tells whether it did. The next call starts another. */
  rest(): boolean
  close(): Promise<void>
}

/** Timeouts in milliseconds. */
export type MbtilesTimeouts = Readonly<Record<'start' | MbtilesCommand['kind'] | 'idle', number>>

const usualPatience: MbtilesTimeouts = { start: 20_000, tile: 3_000, summary: 10_000, close: 3_000, idle: 60_000 }
const maxWaiting = limits.archiveReads.value
/** Requests sent to the process at once; those still waiting here can be cancelled. */
const maxSent = 16

/** Next to this file: .ts when running from sources, .js when compiled. */
const readerFile = fileURLToPath(new URL(`./mbtiles-reader${extname(import.meta.url)}`, import.meta.url))

function startReader(): Channel {
  const child = fork(readerFile, [], {
    serialization: 'advanced',
    // The child gets neither the secrets nor the flags of this process.
    env: {},
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  return processChannel(child)
}

type Options = { patience?: MbtilesTimeouts; onStart?: () => void }

export function createMbtilesProcess({ patience = usualPatience, onStart }: Options = {}): MbtilesProcess {
  const pool = createWorkerPool<MbtilesCommand, Outcome>({
    start() {
      onStart?.()
      return startReader()
    },
    size: 1,
    depth: maxSent,
    maxWaiting,
    // An abort only drops the result: restarting the process costs more than reading one unneeded tile.
    onAbort: 'cancel',
    timeout: { ends: 'replace', ms: ({ kind }) => patience[kind] },
    startMs: patience.start,
    idleMs: patience.idle,
    errors: {
      busy: () => overLimit('archiveReads', maxWaiting, 'Too many tiles are being read. Try again shortly.'),
      late: () => new ApiError('query_timeout', 'The tile archive took too long to answer.'),
      lost: () => broken('could not be read: its reader has crashed'),
      closing: () => new ApiError('unavailable', 'The server is stopping. Try again shortly.'),
    },
  })
  const call: MbtilesProcess['call'] = (command, signal) =>
    pool.run(command, { signal }).catch((error) => {
      const isOurs = error instanceof ApiError || signal?.aborted
      throw isOurs ? error : broken('could not be read', error)
    })
  return {
    call,
    async forget(file) {
      if (pool.isRunning) await call({ kind: 'close', file })
    },
    rest: pool.rest,
    close: pool.close,
  }
}
