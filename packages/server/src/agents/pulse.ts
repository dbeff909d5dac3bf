import type { WebSocket } from 'ws'
import type { Limits } from './limits.ts'

/** Finds out whether somebody is still at the other end of a socket that the system holds open. */
export type Pulse = {
  /** Something came. */
  hear(): void
  /** Asks for a sign of life when it is time, and ends the connection when two questions got none. */
  beat(now: number): void
}

export function createPulse(socket: WebSocket, limits: Limits, isBusy: () => boolean): Pulse {
  let heard = true
  let unanswered = 0
  let pingedAt = performance.now()
  const hear = () => {
    heard = true
  }
  socket.on('ping', hear).on('pong', hear)
  return {
    hear,
    beat(now) {
      // The beats themselves are not quite punctual.
      if (now - pingedAt < (isBusy() ? limits.busyPingMs : limits.pingMs) * 0.9) return
      unanswered = heard ? 0 : unanswered + 1
      heard = false
      pingedAt = now
      if (unanswered >= 2) socket.terminate()
      else socket.ping()
    },
  }
}
