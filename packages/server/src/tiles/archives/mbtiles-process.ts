import { ApiError } from '../../errors.ts'
import { type MbtilesChild, startMbtilesChild } from './mbtiles-child.ts'
import { createMbtilesJobs, type Job, type Outcome } from './mbtiles-jobs.ts'
import type { MbtilesCommand, MbtilesFile } from './mbtiles-protocol.ts'
import { broken } from './tile-content.ts'

/** Reads MBTiles in a process, which starts when it is needed and ends when it is idle or a file makes it hang. */
export type MbtilesProcess = {
  call(command: MbtilesCommand, signal?: AbortSignal): Promise<Outcome>
  /** Closes a file, if it is open. */
  forget(file: MbtilesFile): Promise<void>
  /** Ends the process if it has nothing to do, and tells whether. The next call starts another. */
  rest(): boolean
  close(): Promise<void>
}

/** In milliseconds. */
export type Patience = Readonly<Record<'start' | MbtilesCommand['kind'] | 'idle', number>>

const usualPatience: Patience = { start: 20_000, tile: 3_000, summary: 10_000, close: 3_000, idle: 60_000 }

type Options = { patience?: Patience; onStart?: () => void }

export function createMbtilesProcess({ patience = usualPatience, onStart }: Options = {}): MbtilesProcess {
  const jobs = createMbtilesJobs()
  let child: MbtilesChild | undefined
  let isReady = false
  let timer: NodeJS.Timeout | undefined
  /** What the timer runs for. */
  let timed: Job | 'start' | 'idle' | undefined

  function start(): MbtilesChild {
    onStart?.()
    return startMbtilesChild({
      ready() {
        isReady = true
        advance()
      },
      reply(reply) {
        jobs.settleFirst(reply)
        advance()
      },
      ended: () => replace(broken('could not be read: its reader has crashed')),
    })
  }

  function stop(): void {
    clearTimeout(timer)
    timed = undefined
    child?.kill()
    child = undefined
    isReady = false
  }

  function replace(error: ApiError): void {
    stop()
    jobs.failFirst(error)
    advance()
  }

  function watch(what: Job | 'start' | 'idle'): void {
    if (timed === what) return
    timed = what
    clearTimeout(timer)
    if (what === 'idle') timer = setTimeout(stop, patience.idle).unref()
    else timer = setTimeout(() => replace(tooSlow()), patience[what === 'start' ? what : what.command.kind])
  }

  function advance(): void {
    if (jobs.isEmpty()) {
      child?.hold(false)
      watch('idle')
      return
    }
    child ??= start()
    child.hold(true)
    if (isReady) for (const { command } of jobs.take()) child.send(command)
    watch(jobs.first() ?? 'start')
  }

  return {
    call: (command, signal) => jobs.add(command, signal, advance),
    async forget(file) {
      if (child) await jobs.add({ kind: 'close', file }, undefined, advance)
    },
    rest() {
      if (!jobs.isEmpty()) return false
      stop()
      return true
    },
    async close() {
      const stopped = child
      stop()
      jobs.failAll(new ApiError('unavailable', 'The server is stopping. Try again shortly.'))
      await stopped?.ended
    },
  }
}

const tooSlow = () => new ApiError('query_timeout', 'The tile archive took too long to answer.')
