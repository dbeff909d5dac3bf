import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { WebSocket, WebSocketServer } from 'ws'
import { subprotocol } from '../protocol.ts'

/** WebSocket upgrades, made after the operation has authorized the request. */
export type Upgrades = {
  /** Routes upgrade requests whose path matches to their operation, as ordinary requests. */
  attach(http: FastifyInstance, path: RegExp): void
  /** Does this request ask for a WebSocket? */
  isPending(request: IncomingMessage): boolean
  /** Makes it one. */
  accept(request: IncomingMessage): Promise<WebSocket>
}

type Pending = { socket: Duplex; head: Buffer; response: ServerResponse }

export function createUpgrades(maxFrameBytes: number): Upgrades {
  const pending = new WeakMap<IncomingMessage, Pending>()
  let opened: Promise<WebSocketServer> | undefined
  const isWebSocket = ({ url = '', headers, method }: IncomingMessage, path: RegExp) =>
    method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && path.test(url.split('?', 1)[0] ?? '')

  return {
    attach(http, path) {
      // Upgrades to another protocol, or at another path, get an ordinary answer.
      Object.assign(http.server, { shouldUpgradeCallback: (request: IncomingMessage) => isWebSocket(request, path) })
      http.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
        const response = new ServerResponse(request)
        response.shouldKeepAlive = false
        response.assignSocket(socket as never)
        response.once('finish', () => socket.end(() => socket.destroy()))
        socket.on('error', () => socket.destroy())
        pending.set(request, { socket, head, response })
        http.routing(request, response)
      })
    },
    isPending: (request) => pending.has(request),
    async accept(request) {
      opened ??= openServer(maxFrameBytes)
      const server = await opened
      const { socket, head, response } = pending.get(request) as Pending
      pending.delete(request)
      response.removeAllListeners('finish')
      response.detachSocket(socket as never)
      return new Promise((resolve, reject) => {
        // ws answers a malformed handshake on the socket itself.
        const fail = () => reject(new Error('The WebSocket handshake failed'))
        if (socket.destroyed) return fail()
        socket.once('close', fail)
        server.handleUpgrade(request, socket, head, resolve)
      })
    },
  }
}

/** Loaded lazily, with the first worker. */
async function openServer(maxPayload: number): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws')
  return new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload,
    handleProtocols: (offered) => offered.has(subprotocol) && subprotocol,
  })
}
