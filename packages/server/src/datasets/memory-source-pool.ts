import { Worker } from 'node:worker_threads'

/** A few threads that are all alike, each doing one thing at a time. */
export type ThreadPool = {
  /** A thread of one's own, as soon as one is free. */
  lease(applicationId: string, signal: AbortSignal): Promise<Worker>
  /** Back, for the next one. */
  release(worker: Worker): void
  /** Ended, whatever it does; another takes its place. */
  discard(worker: Worker): void
  close(): Promise<void>
}

type Waiting = { readonly applicationId: string; start(worker: Worker): void }

const size = 2
const idleMs = 60_000
const heapMb = 512

export function createThreadPool(script: URL): ThreadPool {
  const free = new Map<Worker, NodeJS.Timeout>()
  const busy = new Map<Worker, string>()
  const waiting = new Set<Waiting>()
  const ending = new Set<Promise<unknown>>()

  function make(): Worker {
    const worker = new Worker(script, { resourceLimits: { maxOldGenerationSizeMb: heapMb } })
    // Whoever has it listens too; one that nobody has is just gone.
    worker.on('error', () => discard(worker))
    return worker
  }

  function serve(): void {
    while (busy.size < size) {
      const chosen = chooseWaiting(waiting, new Set(busy.values()))
      if (!chosen) return
      const worker = free.keys().next().value ?? make()
      clearTimeout(free.get(worker))
      free.delete(worker)
      waiting.delete(chosen)
      busy.set(worker, chosen.applicationId)
      worker.ref()
      chosen.start(worker)
    }
  }

  function discard(worker: Worker): void {
    clearTimeout(free.get(worker))
    free.delete(worker)
    busy.delete(worker)
    const end = worker.terminate().finally(() => ending.delete(end))
    ending.add(end)
    serve()
  }

  return {
    lease(applicationId, signal) {
      signal.throwIfAborted()
      return new Promise((resolve, reject) => {
        const leave = () => {
          waiting.delete(entry)
          reject(signal.reason)
        }
        const entry: Waiting = {
          applicationId,
          start(worker) {
            signal.removeEventListener('abort', leave)
            resolve(worker)
          },
        }
        signal.addEventListener('abort', leave, { once: true })
        waiting.add(entry)
        serve()
      })
    },
    release(worker) {
      if (!busy.delete(worker)) return
      worker.unref()
      free.set(worker, setTimeout(discard, idleMs, worker).unref())
      serve()
    },
    discard,
    async close() {
      waiting.clear()
      for (const worker of [...free.keys(), ...busy.keys()]) discard(worker)
      await Promise.all(ending)
    },
  }
}

/** Who has nothing running comes first: no application keeps the others waiting for long. */
function chooseWaiting(waiting: ReadonlySet<Waiting>, running: ReadonlySet<string>): Waiting | undefined {
  for (const entry of waiting) if (!running.has(entry.applicationId)) return entry
  return waiting.values().next().value
}
