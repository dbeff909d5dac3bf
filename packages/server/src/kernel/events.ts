import { type Channel, channel } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'

/** The events that metrics count and traces record (node:diagnostics_channel). */
export type Events = {
  /** `operation` is its id, or `none` for what is no operation. */
  request: { operation: string; status: number; seconds: number; raw: IncomingMessage }
  tile: { of: 'dataset' | 'archive'; isCached: boolean }
  tileMade: { querySeconds: number; encodeSeconds: number; compressSeconds: number; bytes: number }
  /** Reported inside the job, when a stage begins. */
  uploadStage: { stage: string }
  upload: { status: 'completed' | 'failed' | 'cancelled'; seconds: number }
  sent: { kind: string; status: 'delivered' | 'failed' }
  /** `code` is `ok` or the code of the error. */
  invocation: { code: string; seconds: number; firstOutputSeconds: number | undefined }
  /** A write failed because this machine has no room left. */
  storageFull: Record<string, never>
  /** A frame of a worker for an invocation that is over. */
  lateFrame: Record<string, never>
  /** A statement that wrote to a table was told to those who follow it, so long after it was logged. */
  changeTold: { seconds: number }
  /** One event to one client that follows changes. */
  changeEvent: Record<string, never>
  /** A client that follows changes did not read them. */
  listenerCut: Record<string, never>
  /** A delivery to a webhook that is bound to a dataset was queued: `dataset.changed` or `dataset.reset`. */
  changeDelivery: { type: string }
  /** From telling a worker that an invocation is cancelled until its slot is free. */
  cancelled: { seconds: number }
}

type Name = keyof Events

const channels: Readonly<Record<Name, Channel>> = {
  request: channel('graticule:request'),
  tile: channel('graticule:tile'),
  tileMade: channel('graticule:tileMade'),
  uploadStage: channel('graticule:uploadStage'),
  upload: channel('graticule:upload'),
  sent: channel('graticule:sent'),
  invocation: channel('graticule:invocation'),
  storageFull: channel('graticule:storageFull'),
  lateFrame: channel('graticule:lateFrame'),
  changeTold: channel('graticule:changeTold'),
  changeEvent: channel('graticule:changeEvent'),
  listenerCut: channel('graticule:listenerCut'),
  changeDelivery: channel('graticule:changeDelivery'),
  cancelled: channel('graticule:cancelled'),
}

/** Publishes an event; free while nobody subscribes. */
export function report<N extends Name>(name: N, event: Events[N]): void {
  const { [name]: heard } = channels
  if (heard.hasSubscribers) heard.publish(event)
}

/** Subscribes; returns the function that unsubscribes. */
export function listen<N extends Name>(name: N, onEvent: (event: Events[N]) => void): () => void {
  const { [name]: heard } = channels
  const hear = (event: unknown): void => onEvent(event as Events[N])
  heard.subscribe(hear)
  return () => void heard.unsubscribe(hear)
}
