import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type Balancer = {
  readonly url: string
  /** From now on connections go to these, one after the other; those that exist stay. */
  route(urls: readonly string[]): void
  close(): Promise<void>
}

/** What stands before replicas: it hands each connection to one of them. */
export async function startBalancer(): Promise<Balancer> {
  const sockets = new Set<Socket>()
  let targets: readonly string[] = []
  let turn = 0
  const server = createServer((client) => {
    const { hostname, port } = new URL(targets[turn++ % targets.length] ?? '')
    const upstream = connect(Number(port), hostname)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroySoon()
      })
      socket.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    route(urls) {
      targets = urls
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
