import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { externalDatabase } from '../database.ts'
import type { TestApp } from '../harness.ts'

/** What becomes of the server's answers after so many bytes. */
type Fault = { readonly after: number; readonly what: 'silence' | 'end' }

/** An external PostgreSQL server, whose statements can be looked at and whose answers can fail. */
export type ExternalServer = NonNullable<Awaited<ReturnType<typeof startExternalServer>>>

/** Undefined if no cluster is running. */
export async function startExternalServer() {
  const database = await externalDatabase()
  if (!database?.url) return undefined
  const target = new URL(database.url)
  const sockets = new Set<Socket>()
  const heard: string[] = []
  let fault: Fault | undefined
  let isDown = false
  const server = createServer((near) => {
    if (isDown) return near.destroy()
    const far = connect(Number(target.port), target.hostname)
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket
        .on('error', () => {})
        .once('close', () => {
          sockets.delete(socket)
          other.destroy()
        })
    }
    near.on('data', (chunk: Buffer) => {
      heard.push(chunk.toString('latin1'))
      far.write(chunk)
    })
    near.on('drain', () => far.resume())
    let bytes = 0
    far.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (!fault || bytes < fault.after) {
        // Back-pressure, so that this process holds no more of an answer than the server under test does.
        if (!near.write(chunk)) far.pause()
      } else if (fault.what === 'end') near.destroy()
      else far.pause()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const hangUp = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    db: database.db,
    admin: database.admin,
    /** How often a statement with this text was sent. */
    asked: (text: string): number => heard.filter((chunk) => chunk.includes(text)).length,
    /** For connections made from now on; older ones end. */
    fail(next: Fault | undefined): void {
      fault = next
      hangUp()
    },
    down(next: boolean): void {
      isDown = next
      if (isDown) hangUp()
    },
    /** The id of the database's record in an application. */
    async register({ call }: TestApp, key: string): Promise<string> {
      const place = { host: '127.0.0.1', port, user: target.username, password: 'x', db: target.pathname.slice(1) }
      const reply = await call('POST', '/api/v1/databases', {
        key,
        body: { type: 'postgres', name: 'Theirs', ...place },
      })
      if (reply.status !== 201) throw new Error(reply.text)
      return reply.body.id
    },
    async close(): Promise<void> {
      server.close()
      hangUp()
      await database.close()
    },
  }
}
