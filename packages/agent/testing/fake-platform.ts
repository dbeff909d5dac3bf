import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Invoke, PlatformFrame, WorkerFrame } from '../src/protocol.ts'

type Refusal = { status: number; headers?: Record<string, string>; body?: string }
type FrameOf<Name> = Extract<WorkerFrame, { t: Name }>
export type Session = ReturnType<typeof createSession>

// Only against hanging: beside other work a command takes tens of seconds to load.
const patienceMs = 100_000

/** The platform's side of the protocol, as a test wants it to be. */
export async function startFakePlatform({ pingIntervalMs = 15_000, welcomes = true, port = 0 } = {}) {
  const server = createServer()
  const sockets = new WebSocketServer({ noServer: true })
  const arrivals = new EventEmitter()
  const sessions: Session[] = []
  const attempts: IncomingMessage[] = []
  let taken = 0
  const fake = {
    url: '',
    sessions,
    attempts,
    /** Says no instead of opening a WebSocket. */
    refusal: undefined as Refusal | undefined,
    /** The next worker's connection, after its hello. */
    async session(): Promise<Session> {
      const index = taken++
      while (!sessions[index]) await once(arrivals, 'session', { signal: AbortSignal.timeout(patienceMs) })
      const session = sessions[index] as Session
      await session.next('hello')
      return session
    },
    async close() {
      for (const socket of sockets.clients) socket.terminate()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  server.on('upgrade', (request, socket, head) => {
    attempts.push(request)
    const { refusal } = fake
    if (refusal) {
      const headers = Object.entries({
        connection: 'close',
        'content-length': Buffer.byteLength(refusal.body ?? ''),
        ...refusal.headers,
      })
      const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
      return socket.end(`HTTP/1.1 ${refusal.status} No\r\n${lines}\r\n${refusal.body ?? ''}`)
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const session = createSession(webSocket, request)
      if (welcomes) {
        session.next('hello').then(
          () => session.send({ t: 'welcome', connectionId: `c${sessions.length}`, pingIntervalMs }),
          () => {},
        )
      }
      sessions.push(session)
      arrivals.emit('session')
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return fake
}

function createSession(socket: WebSocket, request: IncomingMessage) {
  const frames: WorkerFrame[] = []
  const arrivals = new EventEmitter().setMaxListeners(0)
  const closed = Promise.withResolvers<number>()
  socket.on('message', (data) => {
    frames.push(JSON.parse(String(data)))
    arrivals.emit('frame')
  })
  socket.on('close', (code) => closed.resolve(code))
  const matching = <Name extends WorkerFrame['t']>(name: Name, id?: string) =>
    frames.find(
      (frame): frame is FrameOf<Name> => frame.t === name && (id === undefined || ('id' in frame && frame.id === id)),
    )
  return {
    socket,
    request,
    frames,
    closed: closed.promise,
    send: (frame: PlatformFrame) => socket.send(JSON.stringify(frame)),
    invoke: (id: string, input: string, more: Partial<Invoke> = {}) =>
      socket.send(
        JSON.stringify({
          t: 'invoke',
          id,
          mode: 'stream',
          input,
          deadline: 0,
          remainingMs: 60_000,
          window: 262_144,
          ...more,
        }),
      ),
    /** The frame with this name, when it has come. */
    async next<Name extends WorkerFrame['t']>(name: Name, id?: string): Promise<FrameOf<Name>> {
      const signal = AbortSignal.timeout(patienceMs)
      for (;;) {
        const frame = matching(name, id)
        if (frame) return frame
        await once(arrivals, 'frame', { signal })
      }
    },
    text: (id: string) => frames.map((frame) => (frame.t === 'delta' && frame.id === id ? frame.text : '')).join(''),
    names: (id: string) => frames.filter((frame) => 'id' in frame && frame.id === id).map((frame) => frame.t),
  }
}
