import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { runningQueries } from '../../../testing/processes/running-queries.ts'
import { until } from '../../../testing/until.ts'

// One database is enough: readers are watched where HTTP is written; stream.test.ts holds that one who leaves lets go of
// either.

const isPostgres = process.env.TEST_DATABASE_URL !== undefined
// The embedded database runs the whole query before it is known that there is no place for its reader.
const stuckMs = isPostgres ? 2_000 : 3_000
const rowCount = 30_000
// With what a slow reader takes, more than the buffers of two sockets hold: the system lets one grow to its largest when it is read.
const answerBytes = 2 * (socketBufferLimit('tcp_rmem') + socketBufferLimit('tcp_wmem')) + 20_000_000

/** The largest size in bytes: the last of three numbers. */
function socketBufferLimit(name: string): number {
  return Number(readFileSync(`/proc/sys/net/ipv4/${name}`, 'utf8').trim().split(/\s+/).at(-1))
}

let app: TestApp
let tenant: Tenant
let port: number
let path: string
before(async () => {
  app = await testApp({ STREAMS_PER_APPLICATION: '1', STUCK_READER_MS: String(stuckMs) })
  tenant = await app.tenant('stuck')
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  port = (app.http.server.address() as AddressInfo).port
  const text = `repeat('x', ${Math.ceil(answerBytes / rowCount)})`
  path = await create(`SELECT g AS id, ${text} AS t FROM generate_series(1, ${rowCount}) g`)
})
after(async () => {
  // Its role outlives the database that it was made for.
  await app.call('DELETE', `/api/v1/applications/${tenant.id}`)
  await app.close()
})

async function create(source: string): Promise<string> {
  const body = { type: 'sql', name: 'a', source }
  const reply = await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })
  assert.equal(reply.status, 201, reply.text)
  return `/api/v1/datasets/${reply.body.id}/query`
}

function open(path: string): Promise<IncomingMessage> {
  const headers = { 'x-api-key': tenant.developer }
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', path, headers, agent: false }, resolve).on('error', reject)
  })
}

async function statusOf(path: string): Promise<number | undefined> {
  const answer = await open(path)
  answer.on('error', () => {}).destroy()
  return answer.statusCode
}

const running = (): Promise<number> => runningQueries(app.admin)

/** Asks, and reads no more than the system does by itself. */
function askAndStop(): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write([`GET ${path} HTTP/1.1`, 'Host: a', `X-Api-Key: ${tenant.developer}`, '', ''].join('\r\n'))
  return socket
}

test('a reader that takes nothing is cut off in time, and lets go of the database and of its place', async () => {
  const start = performance.now()
  const socket = askAndStop()
  await until(async () => (await running()) === 1)
  // Until the system's buffers are full the answer flows; one place is all there is, and waited for half a second.
  assert.equal(await statusOf(path), 429)
  assert.equal(await running(), 1)
  await until(async () => (await running()) === 0)
  assert.ok(performance.now() - start >= stuckMs * 0.9, 'it was cut too early')
  await until(async () => (await statusOf(path)) === 200)
  let length = 0
  socket.on('data', (piece) => {
    length += piece.length
  })
  await new Promise((resolve) => socket.once('close', resolve))
  assert.ok(length < answerBytes, 'it got the whole answer')
})

test('a slow reader is not cut off, however long it takes', async () => {
  await until(async () => (await running()) === 0)
  const answer = await open(path)
  assert.equal(answer.statusCode, 200)
  answer.pause()
  let length = 0
  for (const end = performance.now() + stuckMs * 4; performance.now() < end; await wait(stuckMs / 20)) {
    length += answer.read()?.length ?? 0
  }
  assert.equal(await running(), 1, 'the answer was all in buffers')
  for await (const piece of answer) length += piece.length
  assert.ok(answer.complete)
  assert.ok(length > answerBytes)
})

test('a reader is not blamed for a server that stands still', async () => {
  await until(async () => (await running()) === 0)
  const answer = await open(path)
  answer.pause()
  await wait(stuckMs / 3)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stuckMs * 1.5)
  let length = 0
  for await (const piece of answer) length += piece.length
  assert.ok(answer.complete)
  assert.ok(length > answerBytes)
})

test('a reader is not blamed for a slow query', { skip: !isPostgres }, async () => {
  for (let rows = 4_000, elapsed = 0; elapsed <= stuckMs * 1.5; rows *= 3) {
    const slow = await create(`SELECT count(*) AS n FROM generate_series(1, 20000) a, generate_series(1, ${rows}) b`)
    const start = performance.now()
    const answer = await open(slow)
    const pieces = await answer.toArray()
    assert.deepEqual(JSON.parse(Buffer.concat(pieces).toString()), [{ n: 20_000 * rows }])
    elapsed = performance.now() - start
  }
})
