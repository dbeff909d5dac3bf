import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * The same PostgreSQL server at another port of loopback. Tests register it as a tenant's own: the address in
 * DATABASE_URL is closed to tenants, whatever EGRESS_ALLOW says. `onData` is told who spoke.
 */
export async function forwardDatabase(
  url: string,
  onData: (isAnswer: boolean) => void = () => {},
): Promise<{ url: string; close(): void }> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname)
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.on('data', () => onData(socket === far))
      socket.pipe(other)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const forwarded = new URL(url)
  forwarded.hostname = '127.0.0.1'
  forwarded.port = String((server.address() as AddressInfo).port)
  return {
    url: forwarded.href,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
