import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** `hang`: takes requests and never answers; `busy`: answers 503; `down`: closes every connection. */
export type ProxyMode = 'pass' | 'hang' | 'busy' | 'down'

const busy = 'HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'

const isRequest = (start: string): boolean => /^[A-Z]+ \S+ HTTP/.test(start)

/** Passes requests on, or treats them as the mode says, which holds to the end of a request. */
function createFilter(state: { mode: ProxyMode; only: RegExp; requests: number }, near: Socket, far: Socket) {
  let mode: ProxyMode = 'pass'
  return (chunk: Buffer): void => {
    const start = chunk.toString('latin1', 0, 200)
    if (isRequest(start)) {
      state.requests++
      mode = state.only.test(start) ? state.mode : 'pass'
    }
    if (mode === 'down') near.destroy()
    if (mode === 'busy') near.end(busy)
    if (mode === 'pass') far.write(chunk)
  }
}

/** A TCP proxy in front of an HTTP server, whose mode a test changes. `only` limits the mode to requests that begin so. */
export async function faultyProxy(target: string) {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const state = { mode: 'pass' as ProxyMode, only: /^/, requests: 0 }
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => sockets.delete(socket))
    }
    near.once('close', () => far.destroy())
    far.pipe(near)
    near.on('data', createFilter(state, near, far))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close(): Promise<void> {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  })
}
