import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer, request as httpRequest } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { sql } from '../db/sql.ts'
import { ApiError } from '../errors.ts'
import { until } from '../testing/until.ts'
import { type UploadApp, uploadApp } from '../testing/uploads.ts'
import { type Pace, receiveForm } from './receive-file.ts'

const small = { name: 'a.csv', bytes: 'a,lon,lat\n1,2,3\n' }

async function withApp(settings: Record<string, string>, work: (uploads: UploadApp) => Promise<void>): Promise<void> {
  const uploads = await uploadApp(settings)
  try {
    await work(uploads)
  } finally {
    await uploads.close()
  }
}

/** A client that has begun to send a file and does not go on. */
function begin({ address }: UploadApp, key: string): Socket {
  const socket = connect(Number(new URL(address).port), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(
    `POST /api/v1/uploads HTTP/1.1\r\nhost: a\r\nx-api-key: ${key}\r\ncontent-type: multipart/form-data; boundary=b\r\n` +
      'content-length: 50000\r\n\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nxxx',
  )
  return socket
}

async function arriving({ app }: UploadApp): Promise<number> {
  const [row] = await app.db.query<{ count: number }>(sql`SELECT count(*)::int4 AS count FROM svc.arriving_uploads`)
  return row?.count ?? 0
}

test('files that are still arriving count among the unfinished uploads of their application', () =>
  withApp({ UPLOADS_WAITING_PER_APPLICATION: '3' }, async (uploads) => {
    const { developer } = uploads.tenant
    const sockets = Array.from({ length: 3 }, () => begin(uploads, developer))
    await until(async () => (await arriving(uploads)) === 3)
    const refused = await uploads.send(small)
    assert.equal(refused.status, 429, JSON.stringify(refused.body))
    assert.equal(refused.body.code, 'busy')
    const other = await uploads.app.tenant('other')
    assert.equal((await uploads.send(small, {}, other.developer)).status, 200, 'another application is not concerned')
    sockets[0]?.destroy()
    await until(async () => (await arriving(uploads)) === 2)
    assert.equal((await uploads.upload(small)).status, 'completed')
    for (const socket of sockets) socket.destroy()
    await until(async () => (await arriving(uploads)) === 0)
    assert.deepEqual(await uploads.leftovers(), [])
  }))

test('of many files sent at the same moment no more are taken than the limit says', () =>
  withApp({ UPLOADS_WAITING_PER_APPLICATION: '5' }, async (uploads) => {
    const sockets = Array.from({ length: 20 }, () => begin(uploads, uploads.tenant.developer))
    const answers = sockets.map((socket) => once(socket.setEncoding('utf8'), 'data'))
    await until(async () => (await arriving(uploads)) === 5)
    const refused = await Promise.all(answers.map((answer) => Promise.race([answer, sleep(2_000)])))
    assert.equal(refused.filter((one) => /^HTTP\/1.1 429/.test(String(one))).length, 15)
    for (const socket of sockets) socket.destroy()
  }))

test('over all applications no more files arrive at a replica than the limit says', () =>
  withApp({ UPLOADS_ARRIVING: '2' }, async (uploads) => {
    const other = await uploads.app.tenant('other')
    const sockets = [begin(uploads, uploads.tenant.developer), begin(uploads, other.developer)]
    await until(async () => (await arriving(uploads)) === 2)
    const { status, body } = await uploads.send(small)
    assert.equal(status, 429, JSON.stringify(body))
    for (const socket of sockets) socket.destroy()
    await until(async () => (await uploads.send(small)).status === 200)
  }))

test('a file that drips, and one that takes too long, are refused with 408, and nothing of them is kept', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-pace-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  async function drip(pace: Pace): Promise<string> {
    const server = createServer((request, response) => {
      receiveForm(request, join(directory, 'form', 'source'), {
        ...{ maxBytes: 1e6, tooLarge: new ApiError('too_large', ''), onWhole: () => undefined, pace },
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
  withApp({ UPLOAD_DEADLINE_SECONDS: '1' }, async (uploads) => {
    const socket = begin(uploads, uploads.tenant.developer)
    const [answer] = await once(socket.setEncoding('utf8'), 'data', { signal: AbortSignal.timeout(10_000) })
    assert.match(answer, /^HTTP\/1.1 408 /)
    socket.destroy()
    assert.deepEqual(await uploads.leftovers(), [])
    await until(async () => (await arriving(uploads)) === 0)
  }))

const rows = (count: number) => `a,lon,lat\n${Array.from({ length: count }, (_, n) => `name ${n},1,2`).join('\n')}\n`

test('an application keeps no more bytes than its quota, by files, tables or what a file becomes', () =>
  withApp({ STORAGE_PER_APPLICATION: '3000000' }, async (uploads) => {
    const { app, schema } = uploads
    // By its declared length, and while it comes.
    const large = await uploads.send({ name: 'a.csv', bytes: Buffer.alloc(6_000_000, 32) })
    assert.equal(large.status, 413)
    assert.equal(large.body.code, 'storage_quota')
    const stream = new ReadableStream({
      pull(controller) {
        controller.enqueue(Buffer.alloc(100_000, 32))
      },
    })
    const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
    const sending = httpRequest(`${uploads.address}/api/v1/uploads`, {
      method: 'POST',
      headers: { 'x-api-key': uploads.tenant.developer, 'content-type': 'multipart/form-data; boundary=b' },
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
    // A small file that becomes a large table.
    const bomb = await uploads.upload({ name: 'a.csv.gz', bytes: gzipSync(rows(60_000)) })
    assert.equal(bomb.status, 'failed')
    assert.equal(bomb.error.code, 'storage_quota')
    assert.deepEqual(await uploads.leftovers(), [])
    // Its rows have room, its indexes have not.
    const indexed = await uploads.upload({ name: 'a.csv', bytes: rows(30_000) })
    assert.equal(indexed.error.code, 'storage_quota', JSON.stringify(indexed))
    assert.equal((await uploads.upload(small)).status, 'completed')
    // A table that was made in another way.
    await app.db.script(`CREATE TABLE ${schema}.other AS SELECT repeat('x', 100) AS a FROM generate_series(1, 40000)`)
    const full = await uploads.send(small)
    assert.equal(full.status, 413)
    assert.equal(full.body.code, 'storage_quota')
    const { developer } = await app.tenant('other')
    assert.equal((await uploads.upload(small, {}, developer)).status, 'completed', 'another application has its own')
  }))
