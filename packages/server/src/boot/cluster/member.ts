import type { BusPort } from '../../kernel/bus/ipc-bus.ts'
import type { Figures, FiguresExchange } from '../../kernel/concurrency/figures-exchange.ts'
import { type Place, placeVariable, type SupervisorMessage, type WorkerMessage } from './messages.ts'

/** This process as one of several workers under a supervisor. */
export type Member = Place & {
  readonly bus: BusPort
  /** It listens. */
  ready(): void
  /** Is aborted when another process is about to take this one's place. */
  readonly retired: AbortSignal
  readonly figures: FiguresExchange
  /** Tells the other workers that an upload waits, or that the status of this one has changed. */
  tellUpload(changed?: string): void
  onUpload(listener: (changed: string | undefined) => void): void
}

/** Undefined in a process that no supervisor has started. */
export function joinSupervisor(env: NodeJS.ProcessEnv): Member | undefined {
  const place = env[placeVariable]
  if (place === undefined || !process.send) return undefined
  const tell = (message: WorkerMessage): void => void process.send?.(message, () => undefined)
  const retired = new AbortController()
  const figures = createExchange(tell)
  let onEnvelope: Parameters<BusPort['listen']>[0] = () => undefined
  let onUpload: Parameters<Member['onUpload']>[0] = () => undefined
  process.on('message', (message: SupervisorMessage) => {
    if (message.k === 'bus') onEnvelope(message.envelope)
    else if (message.k === 'retire') retired.abort()
    else if (message.k === 'upload') onUpload(message.changed)
    else figures.receive(message)
  })
  return {
    ...(JSON.parse(place) as Place),
    bus: {
      post: (envelope) => tell({ k: 'bus', envelope }),
      listen(listener) {
        onEnvelope = listener
      },
    },
    ready: () => tell({ k: 'ready' }),
    retired: retired.signal,
    figures,
    tellUpload: (changed) => tell({ k: 'upload', changed }),
    onUpload(listener) {
      onUpload = listener
    },
  }
}

function createExchange(tell: (message: WorkerMessage) => void) {
  const reader = Promise.withResolvers<() => Promise<Figures>>()
  const waiting = new Map<number, (all: readonly Figures[]) => void>()
  const tellFigures = (figures: Figures): void => tell({ k: 'figures', figures })
  let asked = 0
  return {
    provide: reader.resolve,
    tell: tellFigures,
    collect: () =>
      new Promise<readonly Figures[]>((resolve) => {
        const id = ++asked
        waiting.set(id, resolve)
        tell({ k: 'collect', id })
      }),
    /** The supervisor may ask before there are services to count for. */
    receive(message: Extract<SupervisorMessage, { k: 'read' | 'collected' }>): void {
      if (message.k === 'read') {
        void reader.promise.then((read) => read()).then(tellFigures)
        return
      }
      waiting.get(message.id)?.(message.all)
      waiting.delete(message.id)
    },
  }
}
