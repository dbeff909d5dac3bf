import type { WebSocket } from 'ws'
import type { AgentLimits } from '../limits.ts'

/** Heartbeat of a WebSocket by ping and pong: a half-open TCP connection looks alive to the system until somebody writes. */
export type Heartbeat = {
  /** The other side sent something, so it lives. */
  noteActivity(): void
  /** Sends a ping when one is due. Terminates the socket when two pings in a row had no answer. */
  beat(now: number): void
}

export function createHeartbeat(socket: WebSocket, limits: AgentLimits, isBusy: () => boolean): Heartbeat {
  let isAlive = true
  let unanswered = 0
  let pingedAt = performance.now()
  const noteActivity = () => {
    isAlive = true
  }
  socket.on('ping', noteActivity).on('pong', noteActivity)
  return {
    noteActivity,
    beat(now) {
      // A tenth less, because the interval that calls this is not exact.
      if (now - pingedAt < (isBusy() ? limits.busyPingMs : limits.pingMs) * 0.9) return
      unanswered = isAlive ? 0 : unanswered + 1
      isAlive = false
      pingedAt = now
      if (unanswered >= 2) socket.terminate()
      else socket.ping()
    },
  }
}
