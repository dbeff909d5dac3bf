import type { Envelope } from '../../kernel/bus/ipc-bus.ts'
import type { MachineShare } from '../../kernel/concurrency/machine-share.ts'
import type { MetricValues } from '../../kernel/concurrency/metrics-exchange.ts'

/** The status of an upload has changed; without an id one waits, and another worker may have room for it. */
export type UploadNews = { readonly k: 'upload'; readonly changed?: string | undefined }

/** What a worker tells its supervisor. */
export type WorkerMessage =
  | { readonly k: 'ready' }
  | { readonly k: 'bus'; readonly envelope: Envelope }
  /** Asks for the metrics of all workers. */
  | { readonly k: 'collect'; readonly id: number }
  /** Its own metrics, as an answer to `read` or as a last word. */
  | { readonly k: 'metrics'; readonly metrics: MetricValues }
  | UploadNews

/** What the supervisor tells a worker. */
export type SupervisorMessage =
  | { readonly k: 'bus'; readonly envelope: Envelope }
  /** Asks for its metrics. It counts from then on. */
  | { readonly k: 'read' }
  | { readonly k: 'collected'; readonly id: number; readonly all: readonly MetricValues[] }
  | UploadNews
  /** Another worker will take its place: stop without failing a request. */
  | { readonly k: 'retire' }

/** A worker's place among the workers, which its replacement gets too. */
export type WorkerAssignment = MachineShare & {
  /** It sets the database up and greets; only it was started with the server. */
  readonly isFirst: boolean
}

/** The environment variable that has the place, as JSON. */
export const workerVariable = 'GRATICULE_WORKER'
