import type { Socket } from 'node:net'

/** How many bytes each connection had sent when its last answer ended. */
const marks = new WeakMap<Socket, number>()

/**
 * The bytes that a connection has sent since its last answer: those of the answer that ends now, headers and compressed body.
 * Of answers to pipelined requests, one may be counted with bytes of the next.
 */
export function sentBytes(socket: Socket): number {
  // A request that is made in the process has no real connection.
  const sent = socket.bytesWritten ?? 0
  const before = marks.get(socket) ?? 0
  marks.set(socket, sent)
  return sent - before
}
