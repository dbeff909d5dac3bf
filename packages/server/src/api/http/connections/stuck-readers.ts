import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { limits } from '../../../kernel/limits/limits.ts'

const looks = 10
/** Over so many looks the rate counts: buffers of the system empty in leaps of a megabyte and more. */
const rateLooks = 5 * looks

/** What a connection had taken at the last look, and for how many looks it has taken nothing or been behind. */
type SocketProgress = { taken: number; idleLooks: number; behindLooks: number; takenBefore: number }

/**
 * Disconnects clients that have taken nothing of their answer for this long, or next to nothing for five times as long, so
 * that they hold neither memory, nor a query, nor a file, nor a place among the connections. Only time with bytes waiting
 * counts, because a slow query is not the reader's fault. Looks are counted instead of time, because neither is a server that
 * was blocked. One timer looks at all connections.
 */
export function hangUpOnStuckReaders(server: Server, stuckMs: number): void {
  const watched = new Map<Socket, SocketProgress>()
  const lookMs = Math.ceil(stuckMs / looks)
  const leastBytes = (limits.readerBytesPerSecond.value * rateLooks * lookMs) / 1000
  server.on('connection', (socket: Socket) => {
    watched.set(socket, { taken: -1, idleLooks: 0, behindLooks: 0, takenBefore: 0 })
    socket.once('close', () => watched.delete(socket))
  })
  const timer = setInterval(() => {
    for (const [socket, state] of watched) if (isStuck(socket, state, leastBytes)) socket.resetAndDestroy()
  }, lookMs)
  timer.unref()
  server.once('close', () => clearInterval(timer))
}

/** Such clients are reset, because after a normal close the kernel would keep the unread buffers. */
function isStuck({ bytesWritten, writableLength }: Socket, state: SocketProgress, leastBytes: number): boolean {
  const taken = bytesWritten - writableLength
  const isWaiting = writableLength > 0
  state.idleLooks = isWaiting && taken === state.taken ? state.idleLooks + 1 : 0
  state.taken = taken
  if (!isWaiting || state.behindLooks >= rateLooks) state.behindLooks = 0
  if (state.behindLooks === 0) state.takenBefore = taken
  if (isWaiting) state.behindLooks++
  const isSlow = state.behindLooks >= rateLooks && taken - state.takenBefore < leastBytes
  return isSlow || state.idleLooks >= looks
}
