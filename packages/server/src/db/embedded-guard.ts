import type { Stopped } from './embedded-limits.ts'

/**
 * Limits for one statement, inside the thread that runs it. Compiled code keeps that thread busy, so they are checked
 * whenever it calls out: for more memory, to read or write a file, to hand over rows. PostgreSQL is then asked to cancel the
 * statement by the two flags that a signal would set. What calls out for nothing is stopped from outside, with the thread.
 */
export type Guard = {
  /** Whoever asks for more memory asks here first. */
  attach(memory: WasmMemory): void
  /** Where PostgreSQL's flags are, once the database is open. */
  open(flags: readonly number[]): void
  begin(limits: GuardLimits): void
  check(): void
  stop(reason: Stopped): void
  /** Answers why the statement was stopped, if it was. */
  end(): Stopped | undefined
  /** Memory was refused to the statement that is running. */
  readonly isRefusing: boolean
  /** So much memory has been taken and cannot be given back that the database should be opened anew. */
  readonly isInflated: boolean
}

/** The part of WebAssembly.Memory that is used here; the types of Node lack it. */
type WasmMemory = { readonly buffer: ArrayBuffer; grow(pages: number): number }

export type GuardLimits = { readonly deadline: number; readonly memoryBytes: number; readonly left: Int32Array }

const pageBytes = 65_536
/** The memory of compiled code only grows. With this much more than at the beginning, opening anew is worth it. */
const inflationBytes = 128 * 1024 * 1024

export function createGuard(): Guard {
  let memory: WasmMemory | undefined
  let flags: readonly number[] = []
  let limits: GuardLimits | undefined
  let stopped: Stopped | undefined
  let isRefusing = false
  let bytesAtOpen = 0
  let mayGrowTo = 0

  const size = (): number => memory?.buffer.byteLength ?? 0

  function raise(value: 0 | 1): void {
    if (!memory) return
    const words = new Int32Array(memory.buffer)
    for (const address of flags) words[address / Int32Array.BYTES_PER_ELEMENT] = value
  }

  function stop(reason: Stopped): void {
    if (!limits) return
    stopped ??= reason
    raise(1)
  }

  function check(): void {
    if (!limits) return
    if (Atomics.load(limits.left, 0) === 1) stop('left')
    else if (performance.now() > limits.deadline) stop('time')
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
    begin(given) {
      limits = given
      stopped = undefined
      isRefusing = false
      mayGrowTo = Math.max(size(), Math.min(size(), bytesAtOpen + inflationBytes) + given.memoryBytes)
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
