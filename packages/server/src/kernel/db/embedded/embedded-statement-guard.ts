import type { StopReason } from './embedded-limits.ts'

/**
 * Time and memory limits for one statement, inside the thread that runs it. WebAssembly keeps that thread busy, so they are
 * checked whenever it calls JavaScript: to grow its memory, for file access, to hand over rows; and for a statement that
 * never does, when the main thread interrupts it (`checkStatement`). PostgreSQL is then asked to cancel by the two flags that
 * a signal would set. Where it does not look at them, as inside a function of PostGIS, only ending the thread helps.
 */
export type StatementGuard = {
  /** Intercepts the growth of the memory. */
  attach(memory: WasmMemory): void
  /** Sets the addresses of PostgreSQL's cancel flags, once the database is open. */
  open(flags: readonly number[]): void
  begin(limits: GuardLimits): void
  /** Returns why the statement that is running was stopped, if it was. */
  check(): StopReason | undefined
  stop(reason: StopReason): void
  /** Returns why the statement was stopped, if it was. */
  end(): StopReason | undefined
  /** Memory was refused to the statement that is running. */
  readonly isRefusing: boolean
  /** The memory, which cannot shrink, has grown so much that the database should be reopened. */
  readonly isInflated: boolean
}

/** The part of WebAssembly.Memory that is used here; the types of Node lack it. */
type WasmMemory = { readonly buffer: ArrayBuffer; grow(pages: number): number }

export type GuardLimits = {
  readonly clock: StatementClock
  readonly memoryBytes: number
  readonly left: Int32Array
}

/** When a statement began, in the time of the day's clock and of this thread's CPU, and how much of each it has. */
export type StatementClock = { isOver(): boolean }

export function startClock({ cpuMs, elapsedMs }: { cpuMs: number; elapsedMs: number }): StatementClock {
  const begunAt = performance.now()
  const usedBefore = threadCpuMs()
  return {
    isOver() {
      const elapsed = performance.now() - begunAt
      // A thread uses no more CPU time than has elapsed, and only the second has to be asked of the operating system.
      return elapsed > elapsedMs || (elapsed > cpuMs && threadCpuMs() - usedBefore > cpuMs)
    },
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

const pageBytes = 65_536
/** WebAssembly memory only grows. With this much more than at the start, reopening is worth it. */
const inflationBytes = 128 * 1024 * 1024

export function createStatementGuard(): StatementGuard {
  let memory: WasmMemory | undefined
  let flags: readonly number[] = []
  let limits: GuardLimits | undefined
  let stopped: StopReason | undefined
  let isRefusing = false
  let bytesAtOpen = 0
  let mayGrowTo = 0

  const size = (): number => memory?.buffer.byteLength ?? 0

  function raise(value: 0 | 1): void {
    if (!memory) return
    const words = new Int32Array(memory.buffer)
    for (const address of flags) words[address / Int32Array.BYTES_PER_ELEMENT] = value
  }

  function stop(reason: StopReason): void {
    if (!limits) return
    stopped ??= reason
    raise(1)
  }

  function check(): StopReason | undefined {
    if (!limits) return undefined
    if (Atomics.load(limits.left, 0) === 1) stop('left')
    else if (limits.clock.isOver()) stop('time')
    return stopped
  }

  return {
    attach(attached) {
      memory = attached
      const grow = attached.grow.bind(attached)
      // PostgreSQL takes a refusal for the end of memory: the statement fails, the session goes on.
      attached.grow = (pages) => {
        check()
        if (limits && size() + pages * pageBytes > mayGrowTo) {
          isRefusing = true
          throw new RangeError('The query has reached its memory limit')
        }
        return grow(pages)
      }
    },
    open(addresses) {
      flags = addresses
      bytesAtOpen = size()
    },
    begin(next) {
      limits = next
      stopped = undefined
      isRefusing = false
      mayGrowTo = Math.max(size(), Math.min(size(), bytesAtOpen + inflationBytes) + next.memoryBytes)
      check()
    },
    check,
    stop,
    end() {
      limits = undefined
      // Otherwise a statement that ended by itself would have the next one cancelled.
      if (stopped) raise(0)
      return stopped
    },
    get isRefusing() {
      return isRefusing
    },
    get isInflated() {
      return size() > bytesAtOpen + inflationBytes
    },
  }
}
