import type { BusPort } from '../../kernel/bus/ipc-bus.ts'
import type { MetricsExchange, MetricValues } from '../../kernel/concurrency/metrics-exchange.ts'
import { type SupervisorMessage, type WorkerAssignment, type WorkerMessage, workerVariable } from './messages.ts'

/** This process as one of several workers under a supervisor. */
export type ClusterWorker = WorkerAssignment & {
  readonly bus: BusPort
  /** It listens. */
  ready(): void
  /** Is aborted when another process is about to take this one's place. */
  readonly retired: AbortSignal
  readonly metrics: MetricsExchange
  /** Tells the other workers that an upload waits, or that the status of this one has changed. */
  tellUpload(changed?: string): void
  onUpload(listener: (changed: string | undefined) => void): void
}

/** Undefined in a process that no supervisor has started. */
export function joinSupervisor(env: NodeJS.ProcessEnv): ClusterWorker | undefined {
  const place = env[workerVariable]
  if (place === undefined || !process.send) return undefined
  const tell = (message: WorkerMessage): void => void process.send?.(message, () => undefined)
  const retired = new AbortController()
  const metrics = createExchange(tell)
  let onEnvelope: Parameters<BusPort['listen']>[0] = () => undefined
  let onUpload: Parameters<ClusterWorker['onUpload']>[0] = () => undefined
  process.on('message', (message: SupervisorMessage) => {
    if (message.k === 'bus') onEnvelope(message.envelope)
    else if (message.k === 'retire') retired.abort()
    else if (message.k === 'upload') onUpload(message.changed)
    else metrics.receive(message)
  })
  return {
    ...(JSON.parse(place) as WorkerAssignment),
    bus: {
      post: (envelope) => tell({ k: 'bus', envelope }),
      listen(listener) {
        onEnvelope = listener
      },
    },
    ready: () => tell({ k: 'ready' }),
    retired: retired.signal,
    metrics,
    tellUpload: (changed) => tell({ k: 'upload', changed }),
    onUpload(listener) {
      onUpload = listener
    },
  }
}

function createExchange(tell: (message: WorkerMessage) => void) {
  const reader = Promise.withResolvers<() => Promise<MetricValues>>()
  const waiting = new Map<number, (all: readonly MetricValues[]) => void>()
  const tellMetrics = (metrics: MetricValues): void => tell({ k: 'metrics', metrics })
  let lastId = 0
  return {
    provide: reader.resolve,
    tell: tellMetrics,
    collect: () =>
      new Promise<readonly MetricValues[]>((resolve) => {
        const id = ++lastId
        waiting.set(id, resolve)
        tell({ k: 'collect', id })
      }),
    /** The supervisor may ask before there are services to count for. */
    receive(message: Extract<SupervisorMessage, { k: 'read' | 'collected' }>): void {
      if (message.k === 'read') {
        void reader.promise.then((read) => read()).then(tellMetrics)
        return
      }
      waiting.get(message.id)?.(message.all)
      waiting.delete(message.id)
    },
  }
}
