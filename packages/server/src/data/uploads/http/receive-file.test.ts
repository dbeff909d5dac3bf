import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, request as httpRequest } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../../../testing/until.ts'
import { formOf, type UploadApp, uploadApp } from '../../../../testing/uploads.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { receiveForm } from './receive-file.ts'

// One database is enough: a form is read and refused before the database is asked.

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp({ UPLOAD_MAX_BYTES: '100000' })
})
after(() => uploads.close())

const point = '{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[1,2]}}'
const file = { name: 'a.geojson', bytes: point }
const post = (body: FormData) => uploads.call('POST', '/api/v1/uploads', { body })
const directories = () => readdir(join(uploads.directory, 'uploads')).catch(() => [])

const emptied = () => until(async () => (await directories()).length === 0)

test('a form that is not right is refused, and nothing of it is kept', async () => {
  const two = formOf(file)
  two.append('file', new Blob([point]), 'b.geojson')
  const elsewhere = new FormData()
  elsewhere.append('data', new Blob([point]), 'b.geojson')
  const noFile = new FormData()
  noFile.append('name', 'a')
  const twice = formOf(file, { name: 'a' })
  twice.append('name', 'b')
  const cases: [string, FormData][] = [
    ['two files', two],
    ['a file in another field', elsewhere],
    ['no file', noFile],
    ['no part at all', new FormData()],
    ['a field twice', twice],
    ['a field that is not known', formOf(file, { nonsense: '1' })],
    ['a reference system that is none', formOf(file, { sourceSrid: 'WGS 84' })],
    ['a switch that is neither on nor off', formOf(file, { strict: 'yes' })],
    ['a reference system beyond all', formOf(file, { targetSrid: '999999' })],
    ['a dataset that is no id', formOf(file, { datasetId: 'x' })],
    ['a name that is too long', formOf(file, { name: 'n'.repeat(256) })],
  ]
  for (const [what, form] of cases) {
    const { status, body } = await post(form)
    assert.equal(status, 400, `${what}: ${JSON.stringify(body)}`)
  }
  await emptied()
  assert.equal((await uploads.call('GET', '/api/v1/uploads')).body.length, 0)
})

test('a body that is no form is refused by its type, and a form where JSON is expected too', async () => {
  for (const type of ['application/json', 'text/csv', 'application/x-www-form-urlencoded']) {
    const { status } = await uploads.call('POST', '/api/v1/uploads', { body: '{}', headers: { 'content-type': type } })
    assert.equal(status, 415, type)
  }
  const { status } = await uploads.call('POST', '/api/v1/styles', { body: formOf(file) })
  assert.equal(status, 415)
  const odd = await uploads.call('POST', '/api/v1/uploads', {
    body: 'x',
    headers: { 'content-type': 'multipart/form-data' },
  })
  assert.equal(odd.status, 400)
})

test('a key that may not is refused before the body is read', async () => {
  const key = await uploads.app.key(uploads.tenant.id, { uploads: { read: '*', write: '*' } })
  assert.equal((await uploads.send(file, {}, key)).status, 401)
  assert.equal((await uploads.send(file, {}, randomUUID())).status, 401)
  await emptied()
})

test('a file that says it is too large is refused at once', async () => {
  const { status, body } = await uploads.send({ name: 'a', bytes: Buffer.alloc(3_000_000, 32) })
  assert.equal(status, 413, JSON.stringify(body))
  await emptied()
})

test('a file that turns out too large is refused while it comes, and the connection can be used again', async () => {
  const boundary = 'xyz'
  const sending = httpRequest(`${uploads.address}/api/v1/uploads`, {
    method: 'POST',
    headers: { 'x-api-key': uploads.tenant.developer, 'content-type': `multipart/form-data; boundary=${boundary}` },
  })
  sending.write(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`)
  const answered = once(sending, 'response')
  let isAnswered = false
  void answered.then(() => {
    isAnswered = true
  })
  for (let sent = 0; !isAnswered; sent++) {
    assert.ok(sent < 2_000, 'answered long before the end')
    sending.write(Buffer.alloc(10_000, 32))
    await sleep(20)
  }
  const [response] = await answered
  assert.equal(response.statusCode, 413)
  response.resume()
  sending.end(`\r\n--${boundary}--\r\n`)
  await once(response, 'end')
  await emptied()
})

test('a client whose file was refused, and that does not send it either, is not waited for', async () => {
  const { hostname, port } = new URL(uploads.address)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    answer += text
  })
  socket.write(
    `POST /api/v1/uploads HTTP/1.1\r\nHost: a\r\nx-api-key: ${uploads.tenant.developer}\r\n` +
      'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 9000000\r\n\r\n--b\r\n',
  )
  await once(socket, 'close', { signal: AbortSignal.timeout(30_000) })
  assert.match(answer, /^HTTP\/1.1 413 /)
})

test('a file of just the largest size is taken', async () => {
  const { status, body } = await uploads.send({ name: 'a', bytes: Buffer.alloc(100_000, 32) })
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.size, 100_000)
  await uploads.ended(body.id)
  await emptied()
})

test('a client that leaves in the middle leaves nothing', async () => {
  const socket = connect(Number(new URL(uploads.address).port), '127.0.0.1')
  const head = `POST /api/v1/uploads HTTP/1.1\r\nhost: a\r\nx-api-key: ${uploads.tenant.developer}\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 50000\r\n\r\n`
  socket.write(`${head}--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${'x'.repeat(20_000)}`)
  await until(async () => (await directories()).length > 0)
  socket.destroy()
  await emptied()
})

test('the name of a file is kept, and decides nothing', async () => {
  const { body } = await uploads.send({ name: '../../etc/pass\u202ewd.exe', bytes: point })
  const done = await uploads.ended(body.id)
  assert.equal(done.status, 'completed', JSON.stringify(done))
  assert.match(done.path, /^uploads\/[0-9a-f-]{36}$/)
})

test('a file is kept as it was sent, however it is cut on its way', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-receive-'))
  const path = join(directory, 'form', 'source')
  const server = createServer(async (request, response) => {
    const { file } = await receiveForm(request, path, {
      maxBytes: 1e8,
      tooLarge: new ApiError('too_large', ''),
      onWhole: () => undefined,
      pace: { bytesPerSecond: 0, deadlineMs: 60_000 },
    })
    response.end(String(file.size))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  t.after(() => rm(directory, { recursive: true, force: true }))
  // What looks like the end of the file is in it at any place.
  const noise = Array.from({ length: 1_000 }, (_, n) => [randomBytes((n * 7919) % 5_000), `\r\n--bound`, '\r\n-', '\r'])
  const content = Buffer.concat(noise.flat().map((piece) => Buffer.from(piece)))
  const body = Buffer.concat([
    Buffer.from('--boundary\r\ncontent-disposition: form-data; name="name"\r\n\r\nNoise\r\n'),
    Buffer.from('--boundary\r\ncontent-disposition: form-data; name="file"; filename="noise"\r\n\r\n'),
    content,
    Buffer.from('\r\n--boundary\r\ncontent-disposition: form-data; name="layer"\r\n\r\nlast\r\n--boundary--\r\n'),
  ])
  for (const most of [1_000_000, 100_000, 3_000]) {
    const asked = httpRequest({
      port: (server.address() as AddressInfo).port,
      host: '127.0.0.1',
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=boundary' },
    })
    const answered = once(asked, 'response')
    for (let at = 0, turn = 1; at < body.length; turn++) {
      const size = ((turn * 104_729) % most) + 1
      if (!asked.write(body.subarray(at, at + size))) await once(asked, 'drain')
      at += size
    }
    asked.end()
    const [response] = await answered
    assert.equal(await text(response), String(content.length))
    assert.equal(content.compare(await readFile(path)), 0, `pieces of at most ${most}`)
    await rm(path)
  }
})
