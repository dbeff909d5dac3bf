import type { Socket } from 'node:net'
import { ApiError } from '../errors.ts'

/**
 * The AbortSignal of a request: aborted when the client closes its connection, or when what the request was admitted with
 * is revoked. `release` lets go of the connection once the request is answered: the next one may use it.
 */
export type RequestSignal = { readonly signal: AbortSignal; release(): void }

/** Calls `end` when the caller's credential is revoked, until the function returned is called. */
type WatchCredential = (end: (reason: ApiError) => void) => () => void

export function openRequestSignal(socket: Socket, watchCredential: WatchCredential | undefined): RequestSignal {
  const controller = new AbortController()
  const { signal } = controller
  // The client may have left while its key was looked up, before anybody asked for the signal.
  if (socket.destroyed) {
    controller.abort(clientLeft())
    return { signal, release() {} }
  }
  const end = (reason: ApiError): void => {
    release()
    controller.abort(reason)
  }
  const leave = (): void => end(clientLeft())
  const leavers = leaversOf(socket)
  leavers.add(leave)
  const stopWatching = watchCredential?.(end)
  function release(): void {
    leavers.delete(leave)
    stopWatching?.()
  }
  return { signal, release }
}

/** Only for the log: nobody is there to read it. */
const clientLeft = (): ApiError => new ApiError('client_left', 'The client closed the connection.')

export const hasLeft = (reason: unknown): boolean => reason instanceof ApiError && reason.code === 'client_left'

const bySocket = new WeakMap<Socket, Set<() => void>>()

/** One listener for each connection, however many requests come over it, one after the other or pipelined. */
function leaversOf(socket: Socket): Set<() => void> {
  const known = bySocket.get(socket)
  if (known) return known
  const leavers = new Set<() => void>()
  bySocket.set(socket, leavers)
  socket.once('close', () => {
    for (const leave of [...leavers]) leave()
  })
  return leavers
}
