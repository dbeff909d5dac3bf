// The messages between the handlers and the thread with the WebSocket.
import type { PlatformFrame } from './protocol.ts'

/** The settings of the socket's thread. */
export type LinkSettings = {
  /** The URL of the WebSocket. */
  address: string
  apiKey: string
  workerId: string
  capacity: number
  sdk: string
  version?: string
}

/** From the handlers to the socket. Frames are serialized first, so that a value JSON cannot hold fails in its handler. */
export type ToLink =
  | { type: 'output'; id: string; isTerminal: boolean; text: string }
  /** The handler did not end after its cancellation; its slot is freed. */
  | { type: 'forget'; id: string }
  | { type: 'drain' }

/** From the socket to the handlers. A lost connection cancels all its invocations. */
export type FromLink =
  | { type: 'frame'; frame: Extract<PlatformFrame, { t: 'invoke' | 'credit' | 'cancel' }> }
  | { type: 'log'; line: string }
  | { type: 'ended'; refusal?: { status: number; message: string } }
