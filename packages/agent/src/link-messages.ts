import type { PlatformFrame } from './protocol.ts'

/** What the thread with the socket needs to know. */
export type LinkSettings = {
  /** The WebSocket's address. */
  address: string
  apiKey: string
  workerId: string
  capacity: number
  sdk: string
  version?: string
}

/** From the handlers to the socket. Frames come as text: a value that JSON does not know fails where it was made. */
export type ToLink =
  | { type: 'output'; id: string; isTerminal: boolean; text: string }
  /** The handler did not end when it was told to: its place is given to others. */
  | { type: 'forget'; id: string }
  | { type: 'drain' }

/** From the socket to the handlers. A lost connection is a `cancel` of all that came by it. */
export type FromLink =
  | { type: 'frame'; frame: Extract<PlatformFrame, { t: 'invoke' | 'credit' | 'cancel' }> }
  | { type: 'log'; line: string }
  | { type: 'ended'; refusal?: { status: number; message: string } }
