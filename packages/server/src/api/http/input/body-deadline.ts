import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { limits } from '../../../kernel/limits/limits.ts'

/** Time-out for a request body, against slow-body attacks (Slowloris). */
const bodyMs = limits.bodyMs.value

/** One per connection, since the bodies of its requests come one after the other. */
type Deadline = { timer: NodeJS.Timeout; request: IncomingMessage | undefined }

const deadlines = new WeakMap<Socket, Deadline>()

/** Starts the deadline; `onLate` answers a client that has not sent its body in time. */
export function setDeadline(request: IncomingMessage, onLate: (socket: Socket) => void): void {
  const { headers, socket } = request
  // A request made within the process has no socket, and all of its body.
  if (!(socket instanceof Socket)) return
  if (headers['transfer-encoding'] === undefined && !(Number(headers['content-length']) > 0)) return
  const former = deadlines.get(socket)
  if (former) {
    former.request = request
    former.timer.refresh()
    return
  }
  const late = () => {
    if (deadline.request?.complete === false) onLate(socket)
  }
  const deadline: Deadline = { request, timer: setTimeout(late, bodyMs).unref() }
  deadlines.set(socket, deadline)
  socket.once('close', () => clearTimeout(deadline.timer))
}

/** The body is complete, or its reader has a time-out of its own. */
export function forgetDeadline(request: IncomingMessage): void {
  const deadline = deadlines.get(request.socket)
  if (deadline?.request === request) deadline.request = undefined
}
