import type { MetricValues } from '../../kernel/concurrency/metrics-exchange.ts'
import type { SupervisorMessage, WorkerMessage } from './messages.ts'
import { addEnded } from './worker-metrics.ts'

/** Collects the metrics of all workers for the one that was asked for them. */
export type MetricsCollector = {
  add(workerId: number, send: Send): void
  receive(workerId: number, message: Extract<WorkerMessage, { k: 'collect' | 'figures' }>): void
  remove(workerId: number): void
}

type Send = (message: SupervisorMessage) => void
type Member = { readonly send: Send; figures: MetricValues; isAsked: boolean }

/** A worker that does not answer for so long is busy: its last metrics stand for it. */
const answerTimeoutMs = 2_000

export function createMetricsCollector(): MetricsCollector {
  const members = new Map<number, Member>()
  let ended: MetricValues = []
  let hasBegun = false
  let waiting: { reply(): void; timer: NodeJS.Timeout }[] = []

  function ask(worker: Member): void {
    worker.isAsked = true
    worker.send({ k: 'read' })
  }

  function collect(send: Send, id: number): void {
    hasBegun = true
    const reply = (): void => {
      clearTimeout(one.timer)
      waiting = waiting.filter((other) => other !== one)
      send({ k: 'collected', id, all: [ended, ...Array.from(members.values(), ({ figures }) => figures)] })
    }
    const one = { reply, timer: setTimeout(reply, answerTimeoutMs) }
    waiting.push(one)
    for (const worker of members.values()) ask(worker)
  }

  function replyIfComplete(): void {
    if (members.values().some(({ isAsked }) => isAsked)) return
    for (const { reply } of waiting) reply()
  }

  return {
    add(workerId, send) {
      const member = { send, figures: [], isAsked: false }
      members.set(workerId, member)
      // It counts from its start, if anybody looks at the metrics.
      if (hasBegun) member.send({ k: 'read' })
    },
    receive(workerId, message) {
      const worker = members.get(workerId)
      if (!worker) return
      if (message.k === 'collect') return collect(worker.send, message.id)
      worker.figures = message.figures
      worker.isAsked = false
      replyIfComplete()
    },
    remove(workerId) {
      ended = addEnded(ended, members.get(workerId)?.figures ?? [])
      members.delete(workerId)
      replyIfComplete()
    },
  }
}
