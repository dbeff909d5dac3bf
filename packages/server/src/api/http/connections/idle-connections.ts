import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Closes the connections on which nothing is under way. Node leaves out those on which nothing was ever asked, such as
 * browsers open beforehand: a server that stops would wait for them.
 */
export function createIdleCloser(server: Server): () => void {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return () => {
    server.closeIdleConnections()
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }
}
