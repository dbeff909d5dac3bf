import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { createAdmission } from '../../../kernel/concurrency/admission.ts'
import type { ApiError } from '../../../kernel/errors.ts'
import { overLimit } from '../../../kernel/limits/limits.ts'
import { problemAnswer } from '../problem.ts'

/** How long a refused client may take to read the error. */
const partingMs = 1_000
/** Limit of such clients; beyond it connections are closed without an answer. */
const maxParting = 1_000
/** Before a request is read nobody is known. */
const everybody = ''

/**
 * Refuses connections beyond `max` before a parser, a timer or a request exists for them, WebSockets included. Those that
 * are open go on, so a health check that keeps its connection is still answered.
 */
export function limitConnections(server: Server, max: number): void {
  const handlers = server.listeners('connection')
  const open = createAdmission({ total: max })
  const parting = createAdmission({ total: maxParting })
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const close = open.tryAdmit(everybody)
    if (close) {
      socket.once('close', close)
      for (const handle of handlers) handle.call(server, socket)
      return
    }
    socket.on('error', () => socket.destroy())
    const leave = parting.tryAdmit(everybody)
    if (!leave) return void socket.destroy()
    const timer = setTimeout(() => socket.destroy(), partingMs)
    socket.once('close', () => {
      leave()
      clearTimeout(timer)
    })
    // Reads and drops the request, because closing with unread bytes sends a reset and the client would lose the answer.
    socket.resume().end(problemAnswer(tooManyConnections(max)))
  })
}

const tooManyConnections = (max: number): ApiError =>
  overLimit('connections', max, `This server has ${max} connections open, its limit. Try again in a moment.`, {
    headers: { 'Retry-After': '1' },
  })
