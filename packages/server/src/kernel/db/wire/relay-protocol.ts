import type { ConnectionOptions } from 'node:tls'

/** The messages between the two ends of a relayed connection. */
export type ToRelay =
  | { readonly kind: 'connect'; readonly port: number; readonly host: string; readonly tls: ConnectionOptions | false }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'longAnswer' }
  /** Flow control: the reader took so many bytes. */
  | { readonly kind: 'taken'; readonly count: number }
  | { readonly kind: 'end' }
  | { readonly kind: 'destroy' }

export type FromRelay =
  | { readonly kind: 'connect' }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** What was written has left. */
  | { readonly kind: 'written' }
  | { readonly kind: 'end' }
  | { readonly kind: 'close'; readonly error?: { readonly message: string; readonly code: string | undefined } }

/** Flow control window: bytes sent that the reader has not taken yet. */
export const windowBytes = 256 << 10
