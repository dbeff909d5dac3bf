import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer, request as httpRequest } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../../testing/until.ts'
import { type UploadApp, type UploadServer, uploadApp } from '../../../testing/uploads.ts'
import { sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type Pace, receiveForm } from './http/receive-file.ts'

const small = { name: 'a.csv', bytes: 'a,lon,lat\n1,2,3\n' }

// One database is enough: every file is admitted by the same transaction, which upload.test.ts sends to both, as it does a file
// that becomes larger than the quota.

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp()
})
after(() => uploads.close())

async function withServer(changed: Record<string, string>, work: (server: UploadServer) => Promise<void>) {
  const server = await uploads.beside(changed)
  await work(server)
  await until(async () => (await arriving(server)) === 0)
}

/** A client that has begun to send a file and does not go on. */
function begin({ address }: UploadServer, key: string): Socket {
  const socket = connect(Number(new URL(address).port), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(
    `POST /api/v1/uploads HTTP/1.1\r\nhost: a\r\nx-api-key: ${key}\r\ncontent-type: multipart/form-data; boundary=b\r\n` +
      'content-length: 50000\r\n\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nxxx',
  )
  return socket
}

async function arriving({ app }: UploadServer): Promise<number> {
  const [row] = await app.db.query<{ count: number }>(sql`SELECT count(*)::int4 AS count FROM svc.arriving_uploads`)
  return row?.count ?? 0
}

test('files that are still arriving count among the unfinished uploads of their application', () =>
  withServer({ UPLOADS_WAITING_PER_APPLICATION: '3' }, async (server) => {
    const { developer } = server.tenant
    const sockets = Array.from({ length: 3 }, () => begin(server, developer))
    await until(async () => (await arriving(server)) === 3)
    const refused = await server.send(small)
    assert.equal(refused.status, 429, JSON.stringify(refused.body))
    assert.equal(refused.body.code, 'busy')
    const other = await server.app.tenant('other')
    assert.equal((await server.send(small, {}, other.developer)).status, 200, 'another application is not concerned')
    sockets[0]?.destroy()
    await until(async () => (await arriving(server)) === 2)
    assert.equal((await server.upload(small)).status, 'completed')
    for (const socket of sockets) socket.destroy()
    await until(async () => (await arriving(server)) === 0)
    assert.deepEqual(await server.leftovers(), [])
  }))

test('of many files sent at the same moment no more are taken than the limit says', () =>
  withServer({ UPLOADS_WAITING_PER_APPLICATION: '5' }, async (server) => {
    const sockets = Array.from({ length: 20 }, () => begin(server, server.tenant.developer))
    const answers: string[] = []
    for (const socket of sockets) void once(socket.setEncoding('utf8'), 'data').then(([text]) => answers.push(text))
    // With those that were taken, all have been decided on.
    await until(async () => answers.length >= 15 && (await arriving(server)) === 5)
    assert.equal(answers.length, 15)
    for (const answer of answers) assert.match(answer, /^HTTP\/1.1 429/)
    for (const socket of sockets) socket.destroy()
  }))

test('over all applications no more files arrive at a replica than the limit says', () =>
  withServer({ UPLOADS_ARRIVING: '2' }, async (server) => {
    const other = await server.app.tenant('other')
    const sockets = [begin(server, server.tenant.developer), begin(server, other.developer)]
    await until(async () => (await arriving(server)) === 2)
    const { status, body } = await server.send(small)
    assert.equal(status, 429, JSON.stringify(body))
    for (const socket of sockets) socket.destroy()
    await until(async () => (await server.send(small)).status === 200)
  }))

test('a file that drips, and one that takes too long, are refused with 408, and nothing of them is kept', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-pace-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  async function drip(pace: Pace): Promise<string> {
    const server = createServer((request, response) => {
      receiveForm(request, join(directory, 'form', 'source'), {
        maxBytes: 1e6,
        tooLarge: new ApiError('too_large', ''),
        onWhole: () => undefined,
        pace,
      }).then(
        () => response.end('whole'),
        (error) => response.end(`${error.status} ${error.message}`),
      )
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    const asked = httpRequest({ port, host: '127.0.0.1', method: 'POST', headers })
    asked.on('error', () => undefined)
    asked.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n')
    const timer = setInterval(() => asked.write('x'), 20)
    const [response] = await once(asked, 'response')
    const answer = await text(response)
    clearInterval(timer)
    asked.destroy()
    server.close()
    return answer
  }
  assert.match(await drip({ bytesPerSecond: 1_000, windowMs: 300, deadlineMs: 60_000 }), /^408 .*1000 bytes per second/)
  assert.match(await drip({ bytesPerSecond: 0, windowMs: 300, deadlineMs: 500 }), /^408 .*within 0.5 s/)
  assert.deepEqual(await readdir(directory), [])
})

test('the deadline of a file is a setting', () =>
  withServer({ UPLOAD_DEADLINE_SECONDS: '1' }, async (server) => {
    const socket = begin(server, server.tenant.developer)
    const [answer] = await once(socket.setEncoding('utf8'), 'data', { signal: AbortSignal.timeout(100_000) })
    assert.match(answer, /^HTTP\/1.1 408 /)
    socket.destroy()
    assert.deepEqual(await server.leftovers(), [])
    await until(async () => (await arriving(server)) === 0)
  }))

const rows = (count: number) => `a,lon,lat\n${Array.from({ length: count }, (_, n) => `name ${n},1,2`).join('\n')}\n`

test('an application keeps no more bytes than its quota, by files, tables or what a file becomes', () =>
  withServer({ STORAGE_PER_APPLICATION: '3000000' }, async (server) => {
    const { app, schema } = server
    // By its declared length, and while it comes.
    const large = await server.send({ name: 'a.csv', bytes: Buffer.alloc(6_000_000, 32) })
    assert.equal(large.status, 413)
    assert.equal(large.body.code, 'storage_quota')
    const stream = new ReadableStream({
      pull(controller) {
        controller.enqueue(Buffer.alloc(100_000, 32))
      },
    })
    const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
    const sending = httpRequest(`${server.address}/api/v1/uploads`, {
      method: 'POST',
      headers: { 'x-api-key': server.tenant.developer, 'content-type': 'multipart/form-data; boundary=b' },
    })
    sending.on('error', () => undefined)
    sending.write(head)
    const answered = once(sending, 'response')
    let isAnswered = false
    void answered.then(() => {
      isAnswered = true
    })
    for await (const piece of stream) {
      if (isAnswered) break
      sending.write(piece)
      await sleep(2)
    }
    const [response] = await answered
    assert.equal(response.statusCode, 413)
    assert.equal(JSON.parse(await text(response)).code, 'storage_quota')
    sending.destroy()
    // Its rows have room, its indexes have not.
    const indexed = await server.upload({ name: 'a.csv', bytes: rows(30_000) })
    assert.equal(indexed.error.code, 'storage_quota', JSON.stringify(indexed))
    assert.equal((await server.upload(small)).status, 'completed')
    // A table that was made in another way.
    await app.db.script(`CREATE TABLE ${schema}.other AS SELECT repeat('x', 100) AS a FROM generate_series(1, 40000)`)
    const full = await server.send(small)
    assert.equal(full.status, 413)
    assert.equal(full.body.code, 'storage_quota')
    const { developer } = await app.tenant('other')
    assert.equal((await server.upload(small, {}, developer)).status, 'completed', 'another application has its own')
  }))

test('no more run at once than may, and the rest wait in order', async () => {
  const sent: string[] = []
  for (let n = 0; n < 5; n++) sent.push((await uploads.send({ name: 'a.csv', bytes: rows(10_000) })).body.id)
  let most = 0
  await until(async () => {
    const { body } = await uploads.call('GET', `/api/v1/uploads?filter[status][$in]=pending,processing`)
    most = Math.max(most, body.filter(({ status }: { status: string }) => status === 'processing').length)
    return body.length === 0
  })
  assert.ok(most <= 2, `${most} at once`)
  const records = await Promise.all(sent.map((id) => uploads.ended(id)))
  const started = records.map(({ startedAt }) => Date.parse(startedAt))
  assert.deepEqual(
    started,
    started.toSorted((a, b) => a - b),
  )
})
