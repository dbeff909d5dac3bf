import type { ConnectionOptions } from 'node:tls'

/** What the two ends of a relayed connection tell each other. */
export type ToRelay =
  | { readonly kind: 'connect'; readonly port: number; readonly host: string; readonly tls: ConnectionOptions | false }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'longAnswer' }
  /** So many bytes were taken by the reader. */
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

/** So much may be on its way to a reader that has not taken it. */
export const windowBytes = 256 << 10
