import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

/** A body that is not there by then does not come any more. */
const bodyMs = 60_000

const timers = new WeakMap<IncomingMessage, NodeJS.Timeout>()

/** A client that does not send what it announced is told so, and waited for no longer. */
export function setDeadline(request: IncomingMessage, onLate: (socket: Socket) => void): void {
  const { headers, socket } = request
  // A request made within the process has no socket, and all of its body.
  if (!(socket instanceof Socket)) return
  if (headers['transfer-encoding'] === undefined && !(Number(headers['content-length']) > 0)) return
  const timer = setTimeout(() => {
    if (!request.complete) onLate(socket)
  }, bodyMs)
  timers.set(request, timer.unref())
  request.once('close', () => clearTimeout(timer))
}

/** Whoever reads the body watches over it. */
export function forgetDeadline(request: IncomingMessage): void {
  clearTimeout(timers.get(request))
}
