import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { limits } from '../../../kernel/limits/limits.ts'
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

test('a client that takes less than the least rate is cut off after five times as long, and one that takes it is not', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const server = new EventEmitter()
  assert.equal(limits.readerBytesPerSecond.value, 16_384)
  hangUpOnStuckReaders(server as Server, 60_000)
  const connectReader = (bytesPerSecond: number) => {
    const socket = Object.assign(new EventEmitter(), { bytesWritten: 1_000_000_000, writableLength: 1_000_000_000 })
    const reader = { socket, bytesPerSecond, isCut: false }
    Object.assign(socket, { resetAndDestroy: () => Object.assign(reader, { isCut: true }) })
    server.emit('connection', socket)
    return reader
  }
  const [slow, patient] = [connectReader(15_000), connectReader(17_000)]
  const pass = (seconds: number): void => {
    for (let second = 0; second < seconds; second++) {
      for (const { socket, bytesPerSecond } of [slow, patient]) socket.writableLength -= bytesPerSecond
      t.mock.timers.tick(1_000)
    }
  }
  pass(290)
  assert.deepEqual([slow.isCut, patient.isCut], [false, false])
  pass(20)
  assert.deepEqual([slow.isCut, patient.isCut], [true, false])
  pass(3_600)
  assert.equal(patient.isCut, false)
  server.emit('close')
})
