import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '../../../../testing/harness.ts'

// One database is enough: connections are counted before a request is read.

let app: TestApp
let port: number
const sockets: Socket[] = []
before(async () => {
  app = await testApp({ MAX_CONNECTIONS: '3' })
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  port = (app.http.server.address() as AddressInfo).port
})
after(async () => {
  for (const socket of sockets) socket.destroy()
  await app.close()
})

async function open(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  await once(socket, 'connect')
  return socket
}

async function health(socket: Socket): Promise<string> {
  socket.write('GET /api/v1/healthcheck HTTP/1.1\r\nhost: a\r\n\r\n')
  const [answer] = await once(socket, 'data')
  return String(answer)
}

test('a connection beyond the limit gets 503 with Retry-After, those that are open go on, and room is used again', async () => {
  const first = await open()
  assert.match(await health(first), /^HTTP\/1.1 200/)
  const others = [await open(), await open()]
  for (let tries = 0; tries < 5; tries++) {
    const refused = await open()
    refused.write('GET /api/v1/healthcheck HTTP/1.1\r\nhost: a\r\n\r\n')
    const answer = await text(refused)
    assert.match(answer, /^HTTP\/1.1 503 /)
    assert.match(answer, /\r\nRetry-After: 1\r\n/)
    assert.match(answer, /\r\nContent-Type: application\/problem\+json\r\n/)
    const body = JSON.parse(answer.split('\r\n\r\n')[1] ?? '')
    assert.equal(body.code, 'unavailable')
    assert.match(body.detail, /3 connections/)
    assert.deepEqual({ limit: body.limit, limitName: body.limitName }, { limit: 3, limitName: 'connections' })
  }
  assert.match(await health(first), /^HTTP\/1.1 200/)
  others[0]?.destroy()
  for (let answer = ''; !answer.startsWith('HTTP/1.1 200'); answer = await health(await open()).catch(() => '')) {
    if (sockets.length > 200) assert.fail('The place of a connection that ended was not given to another')
  }
})
