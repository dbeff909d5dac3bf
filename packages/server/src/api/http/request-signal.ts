import type { Socket } from 'node:net'
import { ApiError } from '../../kernel/errors.ts'

/**
 * The AbortSignal of a request: aborted when the client closes its connection, or when its credential is revoked.
 * `release` removes the listeners once the request is answered, because the next one may use the same connection.
 */
export type RequestSignal = { readonly signal: AbortSignal; release(): void }

/** Calls `end` when the caller's credential is revoked, until the function returned is called. */
type WatchCredential = (end: (reason: ApiError) => void) => () => void

export function openRequestSignal(socket: Socket, watchCredential: WatchCredential | undefined): RequestSignal {
  const controller = new AbortController()
  const { signal } = controller
  // The client may have disconnected while its key was loaded, before the signal existed.
  if (socket.destroyed) {
    controller.abort(clientLeft())
    return { signal, release() {} }
  }
  const end = (reason: ApiError): void => {
    release()
    controller.abort(reason)
  }
  const leave = (): void => end(clientLeft())
  const closeListeners = closeListenersOf(socket)
  closeListeners.add(leave)
  const stopWatching = watchCredential?.(end)
  function release(): void {
    closeListeners.delete(leave)
    stopWatching?.()
  }
  return { signal, release }
}

/** Only for the log, because the client is gone. */
const clientLeft = (): ApiError => new ApiError('client_left', 'The client closed the connection.')

export const hasLeft = (reason: unknown): boolean => reason instanceof ApiError && reason.code === 'client_left'

const bySocket = new WeakMap<Socket, Set<() => void>>()

/** One listener for each connection, however many requests come over it, one after the other or pipelined. */
function closeListenersOf(socket: Socket): Set<() => void> {
  const signals = bySocket.get(socket)
  if (signals) return signals
  const closeListeners = new Set<() => void>()
  bySocket.set(socket, closeListeners)
  socket.once('close', () => {
    for (const leave of [...closeListeners]) leave()
  })
  return closeListeners
}
