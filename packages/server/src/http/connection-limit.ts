import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '../errors.ts'
import { problemAnswer } from './problem.ts'

/** How long a refused client may take to read why. */
const partingMs = 1_000
/** So many may be reading that at once; beyond it connections are cut without a word. */
const maxParting = 1_000

/**
 * Refuses connections beyond `max` before a parser, a timer or a request exists for them, WebSockets included. Those that
 * are open go on, so a health check that keeps its connection is still answered.
 */
export function limitConnections(server: Server, max: number): void {
  const handlers = server.listeners('connection')
  let open = 0
  let parting = 0
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    if (open < max) {
      open++
      socket.once('close', () => open--)
      for (const handle of handlers) handle.call(server, socket)
      return
    }
    socket.on('error', () => socket.destroy())
    if (parting >= maxParting) return void socket.destroy()
    parting++
    const timer = setTimeout(() => socket.destroy(), partingMs)
    socket.once('close', () => {
      parting--
      clearTimeout(timer)
    })
    // What the client has sent is read and dropped: closing with bytes unread would take the answer from it.
    socket.resume().end(problemAnswer(tooManyConnections(max)))
  })
}

const tooManyConnections = (max: number): ApiError =>
  new ApiError('unavailable', `This server has ${max} connections open, its limit. Try again in a moment.`, {
    headers: { 'Retry-After': '1' },
  })
