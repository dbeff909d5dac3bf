import type { CallOptions, Exchange } from './exchange.ts'
import { DuckdbFault } from './fault.ts'
import type { DatabaseAddress, Task } from './messages.ts'
import { type ProcessOptions, startProcess, type TenantProcess } from './tenant-process.ts'

/** A process for each tenant in use: started when needed, ended when idle, at most so many at once. */
export type ProcessPool = {
  begin(tenant: string, database: Omit<DatabaseAddress, 'quarantined'>, task: Task, options: CallOptions): Exchange
  close(): Promise<void>
}

type PoolOptions = {
  readonly temporaryDirectory: string
  readonly memoryMb: number
  readonly threads: number
  readonly graceMs: number
  readonly maxProcesses: number
  readonly idleMs: number
  readonly onError: (error: unknown) => void
  /** For tests. */
  readonly start?: (options: ProcessOptions) => TenantProcess
}

/** Of one tenant, at once. More would only wait for each other. */
const maxRunning = 32
/** A file that a process died of so many times is not opened again until it changes. Once may have been a coincidence. */
const maxDeaths = 2
const rememberedFiles = 1_000

type Slot = { process: TenantProcess; idle?: NodeJS.Timeout }

export function createProcessPool({
  maxProcesses,
  idleMs,
  start = startProcess,
  ...options
}: PoolOptions): ProcessPool {
  /** In order of use, the least recent first. */
  const slots = new Map<string, Slot>()
  const ending = new Set<Promise<void>>()
  const deadly = createDeadlyFiles()
  let isClosed = false

  function end(tenant: string, { process, idle }: Slot): void {
    clearTimeout(idle)
    if (slots.get(tenant)?.process === process) slots.delete(tenant)
    const ended = process.end()
    ending.add(ended)
    void ended.finally(() => ending.delete(ended))
  }

  function makeRoom(): void {
    for (const [tenant, slot] of slots) if (slot.process.isEnded) slots.delete(tenant)
    if (slots.size < maxProcesses) return
    const idle = slots.entries().find(([, { process }]) => process.running === 0)
    if (!idle) {
      const message = `${maxProcesses} applications already query files, the limit of this server. Try again in a moment.`
      throw new DuckdbFault('busy', message, { limit: { of: 'applications', value: maxProcesses } })
    }
    end(...idle)
  }

  function slotOf(tenant: string): Slot {
    if (isClosed) throw new DuckdbFault('ended', 'The server is shutting down.')
    const former = slots.get(tenant)
    if (former && !former.process.isEnded) {
      slots.delete(tenant)
      slots.set(tenant, former)
      return former
    }
    makeRoom()
    const process = start({
      ...options,
      onFatalFile: deadly.add,
      onIdle() {
        slot.idle = setTimeout(() => end(tenant, slot), idleMs).unref()
      },
    })
    const slot: Slot = { process }
    slots.set(tenant, slot)
    return slot
  }

  return {
    begin(tenant, database, task, callOptions) {
      const slot = slotOf(tenant)
      if (slot.process.running >= maxRunning) {
        throw new DuckdbFault(
          'busy',
          `This application already runs ${maxRunning} queries, its limit. Try again in a moment.`,
          { limit: { of: 'queries', value: maxRunning } },
        )
      }
      clearTimeout(slot.idle)
      const quarantined = deadly.below(database.directory)
      return slot.process.begin({ ...database, quarantined }, task, callOptions)
    },
    async close() {
      isClosed = true
      for (const entry of [...slots]) end(...entry)
      await Promise.all(ending)
    },
  }
}

/** Files that processes died of, by path and fingerprint. */
function createDeadlyFiles() {
  const deaths = new Map<string, number>()
  return {
    add(file: string): void {
      deaths.set(file, (deaths.get(file) ?? 0) + 1)
      const [oldest] = deaths.keys()
      if (deaths.size > rememberedFiles && oldest !== undefined) deaths.delete(oldest)
    },
    below: (directory: string): string[] =>
      [...deaths].flatMap(([file, count]) => (count >= maxDeaths && file.startsWith(`${directory}/`) ? [file] : [])),
  }
}
