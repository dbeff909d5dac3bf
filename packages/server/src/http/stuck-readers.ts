import type { Server } from 'node:http'
import type { Socket } from 'node:net'

const looks = 10

/** What a connection had taken at the last look, and for how many looks it has taken nothing. */
type Watched = { taken: number; idleLooks: number }

/**
 * Disconnects clients that have taken nothing of their answer for this long, so that they hold neither memory, nor a query,
 * nor a place among the connections. Only time with bytes waiting counts, because a slow query is not the reader's fault.
 * Looks are counted instead of time, because neither is a server that was blocked. One timer looks at all connections.
 */
export function hangUpOnStuckReaders(server: Server, stuckMs: number): void {
  const watched = new Map<Socket, Watched>()
  server.on('connection', (socket: Socket) => {
    watched.set(socket, { taken: -1, idleLooks: 0 })
    socket.once('close', () => watched.delete(socket))
  })
  const timer = setInterval(
    () => {
      for (const [socket, state] of watched) if (isStuck(socket, state)) socket.resetAndDestroy()
    },
    Math.ceil(stuckMs / looks),
  )
  timer.unref()
  server.once('close', () => clearInterval(timer))
}

/** Such clients are reset, because after a normal close the kernel would keep the unread buffers. */
function isStuck({ bytesWritten, writableLength }: Socket, state: Watched): boolean {
  const taken = bytesWritten - writableLength
  state.idleLooks = writableLength > 0 && taken === state.taken ? state.idleLooks + 1 : 0
  state.taken = taken
  return state.idleLooks >= looks
}
