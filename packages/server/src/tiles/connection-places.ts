import type { RawConnection } from '../db/raw-connection.ts'

/** Where a worker's connections are while nobody uses them, and who may have one. */
export type ConnectionPlaces = {
  /** An idle connection to this database, or nothing but the right to make one. Waits until there is a place. */
  take(database: string, signal: AbortSignal): Promise<RawConnection | undefined>
  /** Without a connection when it is of no use any more. */
  giveBack(database: string, connection: RawConnection | undefined): void
  /** Closes what is idle. */
  drop(database: string): void
}

type Idle = { readonly database: string; readonly connection: RawConnection; readonly since: number }

/** To each database: a tile that waits for one of them is soon served, and the other workers have as many. */
const maxEach = 4
/** To all databases: each application logs in as itself, and there may be many of them on one server. */
const maxTotal = 16
const idleMs = 30_000

export function createConnectionPlaces(): ConnectionPlaces {
  /** The one that is idle for longest comes first. */
  let idle: Idle[] = []
  const busy = new Map<string, number>()
  let total = 0
  let waiting: (() => void)[] = []
  setInterval(() => close(({ since }) => since < performance.now() - idleMs), idleMs / 2).unref()

  function close(isMeant: (one: Idle) => boolean): void {
    const gone = idle.filter(isMeant)
    idle = idle.filter((one) => !gone.includes(one))
    total -= gone.length
    for (const { connection } of gone) connection.close()
  }

  function tryToTake(database: string): { connection?: RawConnection } | undefined {
    const count = busy.get(database) ?? 0
    if (count >= maxEach) return undefined
    close(({ connection }) => !connection.isOpen)
    const found = idle.findLast((one) => one.database === database)
    const [oldest] = idle
    if (!found && total >= maxTotal) close((one) => one === oldest)
    if (!found && total >= maxTotal) return undefined
    if (!found) total++
    idle = idle.filter((one) => one !== found)
    busy.set(database, count + 1)
    return found ? { connection: found.connection } : {}
  }

  return {
    async take(database, signal) {
      for (;;) {
        signal.throwIfAborted()
        const taken = tryToTake(database)
        if (taken) return taken.connection
        await turn(waiting, signal)
      }
    },
    giveBack(database, connection) {
      const count = (busy.get(database) ?? 1) - 1
      if (count === 0) busy.delete(database)
      else busy.set(database, count)
      if (connection) idle.push({ database, connection, since: performance.now() })
      else total--
      // Whoever finds no place yet waits again.
      const all = waiting
      waiting = []
      for (const resume of all) resume()
    },
    drop: (database) => close((one) => one.database === database),
  }
}

async function turn(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const resume = (): void => resolve()
  waiting.push(resume)
  signal.addEventListener('abort', resume, { once: true })
  await promise
  signal.removeEventListener('abort', resume)
}
