import type { MetricValues } from '../../kernel/concurrency/metrics-exchange.ts'
import type { SupervisorMessage, WorkerMessage } from './messages.ts'
import { addEnded } from './worker-metrics.ts'

/** Collects the metrics of all workers for the one that was asked for them. */
export type MetricsCollector = {
  add(workerId: number, send: Send): void
  receive(workerId: number, message: Extract<WorkerMessage, { k: 'collect' | 'metrics' }>): void
  remove(workerId: number): void
}

type Send = (message: SupervisorMessage) => void
type Worker = { readonly send: Send; metrics: MetricValues; isReading: boolean }

/** A worker that does not answer for so long is busy: its last metrics stand for it. */
const answerTimeoutMs = 2_000

export function createMetricsCollector(): MetricsCollector {
  const workers = new Map<number, Worker>()
  let ended: MetricValues = []
  let hasBegun = false
  let waiting: { reply(): void; timer: NodeJS.Timeout }[] = []

  function ask(worker: Worker): void {
    worker.isReading = true
    worker.send({ k: 'read' })
  }

  function collect(send: Send, id: number): void {
    hasBegun = true
    const reply = (): void => {
      clearTimeout(one.timer)
      waiting = waiting.filter((other) => other !== one)
      send({ k: 'collected', id, all: [ended, ...Array.from(workers.values(), ({ metrics }) => metrics)] })
    }
    const one = { reply, timer: setTimeout(reply, answerTimeoutMs) }
    waiting.push(one)
    for (const worker of workers.values()) ask(worker)
  }

  function replyIfComplete(): void {
    if (workers.values().some(({ isReading }) => isReading)) return
    for (const { reply } of waiting) reply()
  }

  return {
    add(workerId, send) {
      const worker = { send, metrics: [], isReading: false }
      workers.set(workerId, worker)
      // It counts from its start, if anybody looks at the metrics.
      if (hasBegun) worker.send({ k: 'read' })
    },
    receive(workerId, message) {
      const worker = workers.get(workerId)
      if (!worker) return
      if (message.k === 'collect') return collect(worker.send, message.id)
      worker.metrics = message.metrics
      worker.isReading = false
      replyIfComplete()
    },
    remove(workerId) {
      ended = addEnded(ended, workers.get(workerId)?.metrics ?? [])
      workers.delete(workerId)
      replyIfComplete()
    },
  }
}
