import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { hangUpOnStuckReaders } from './stuck-readers.ts'

// One database is enough: none is asked. datasets/stuck-reader.test.ts holds it for queries, and for slow readers.

/** More than the buffers of two sockets hold. */
const answer = Buffer.alloc(100_000_000)

test('a client that takes nothing of an answer is cut off, and one that has all of it or asked nothing is not', async (t) => {
  const server = createServer((request, response) => response.end(request.url === '/small' ? 'a' : answer))
  t.after(() => server.close())
  hangUpOnStuckReaders(server, 300)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const open = async (request: string): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    t.after(() => socket.destroy())
    await once(socket, 'connect')
    socket.write(request)
    return socket
  }
  const silent = await open('')
  const served = await open('GET /small HTTP/1.1\r\nhost: a\r\n\r\n')
  await once(served, 'data')
  const cut = once(server, 'connection').then(([socket]) => once(socket, 'close'))
  await open('GET /large HTTP/1.1\r\nhost: a\r\n\r\n')
  await cut
  served.write('GET /small HTTP/1.1\r\nhost: a\r\n\r\n')
  silent.write('GET /small HTTP/1.1\r\nhost: a\r\n\r\n')
  for (const socket of [served, silent]) assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 200/)
})
