import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, type TestContext, test } from 'node:test'
import { testFolder } from '../../../../../driver-duckdb/testing/folder.ts'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { plainStream, type S3Server, s3Server } from '../../../../testing/peers/s3-server.ts'
import { createRemoteFiles } from './remote-files.ts'
import { readS3Location } from './s3-record.ts'
import { s3Source } from './s3-source.ts'

// One database is enough: files are copied and read by DuckDB; where its record is stored does not matter.

const key = { id: 'AKIATEST', secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCY' }
let server: S3Server

before(async () => {
  server = await s3Server()
})
after(() => server.close())
beforeEach(() => {
  server.objects.clear()
  server.asked.length = 0
  server.answer = undefined
  server.key = undefined
})

describe('copies of files in a bucket', () => {
  async function setUp(t: TestContext) {
    const directory = await mkdtemp(join(tmpdir(), 's3-'))
    t.after(() => rm(directory, { recursive: true, force: true }))
    const source = s3Source({
      location: readS3Location({ db: 's3://maps/data/', host: server.origin, metadata: {} }),
      key: undefined,
      files: undefined,
      stream: plainStream,
      isTable: (file) => file.endsWith('.csv'),
    })
    // Each time as a server that has just started: with nothing in memory, but the copies.
    const ready = (maxFileBytes = 1_000_000) =>
      createRemoteFiles({ onError: () => {}, trustMs: 0, patienceMs: 600_000, maxFileBytes }).ready(
        { directory: join(directory, 'db'), key: '', source },
        undefined,
      )
    const copies = async () => (await readdir(join(directory, 'db'))).filter((name) => !name.startsWith('.')).toSorted()
    return { ready, copies }
  }

  test('follow the listing, outlive one that fails and go with one that is refused', async (t) => {
    const { ready, copies } = await setUp(t)
    server.objects.set('data/a.csv', Buffer.from('id\n1\n')).set('data/b.csv', Buffer.from('id\n2\n'))
    await ready()
    assert.deepEqual(await copies(), ['a.csv', 'b.csv'])
    server.objects.delete('data/a.csv')
    server.objects.set('data/c.csv', Buffer.from('id\n3\n'))
    server.asked.length = 0
    await ready()
    assert.deepEqual(await copies(), ['b.csv', 'c.csv'])
    assert.deepEqual(server.asked.toSorted(), ['200 /maps/', '200 /maps/data/c.csv', '304 /maps/data/b.csv'])
    server.answer = (_, response) => void response.writeHead(503).end()
    await ready()
    assert.deepEqual(await copies(), ['b.csv', 'c.csv'])
    server.answer = (_, response) => void response.writeHead(403).end()
    await assert.rejects(ready(), { code: 'invalid_request' })
    assert.deepEqual(await copies(), [])
  })

  test('are neither larger than allowed, whatever the listing says of their size, nor cut short', async (t) => {
    const { ready, copies } = await setUp(t)
    server.objects.set('data/a.csv', Buffer.alloc(2_000))
    await assert.rejects(ready(1_000), { code: 'too_large', message: /^a.csv: The file is larger than/ })
    const listing = '<ListBucketResult><Contents><Key>data/a.csv</Key><Size>5</Size></Contents></ListBucketResult>'
    server.answer = ({ url }, response) => {
      if (url?.startsWith('/maps/?')) return void response.end(listing)
      response.writeHead(200, { 'content-length': '100' })
      response.write('id\n1\n', () => response.destroy())
    }
    await assert.rejects(ready(), { code: 'upstream_failed', message: 'a.csv could not be fetched.' })
    assert.deepEqual(await copies(), [])
  })
})

describe('a database of files in a bucket', () => {
  let app: TestApp
  let tenant: Tenant
  const lines: string[] = []
  const call: TestApp['call'] = (method, url, request = {}) =>
    app.call(method, url, { key: tenant.developer, ...request })
  before(async () => {
    app = await testApp({}, (line) => lines.push(line))
    tenant = await app.tenant('buckets')
  })
  after(() => app.close())
  const record = () => ({ type: 'duckdb', name: 'Bucket', db: 's3://maps/open/', host: server.origin })
  const signed = () => ({ ...record(), user: key.id, password: key.secret, metadata: { region: 'eu-central-1' } })
  const tried = async (id: string) => (await call('POST', `/api/v1/databases/${id}/test`)).body

  test('is listed, queried and drawn, and never shows its secret', async (t) => {
    const folder = testFolder(t)
    await folder.write('t.parquet', `SELECT range AS id, ('POINT(1 ' || range || ')')::GEOMETRY AS geom FROM range(5)`)
    server.objects.set('open/t.parquet', await readFile(folder.path('t.parquet')))
    server.objects.set('open/read.me', Buffer.from('text')).set('open/below/u.csv', Buffer.from('id\n'))
    server.key = key
    const made = await call('POST', '/api/v1/databases', { body: signed() })
    assert.equal(made.status, 201, made.text)
    const { id } = made.body
    assert.match((await tried(id)).serverVersion ?? '', /^DuckDB /)
    const tables = await call('GET', `/api/v1/databases/${id}/tables`)
    assert.deepEqual(
      tables.body.map(({ name }: { name: string }) => name),
      ['t'],
    )
    const dataset = { type: 'table', name: 't', source: 't', databaseId: id }
    const { body: stored } = await call('POST', '/api/v1/datasets', { body: dataset })
    const rows = await call('GET', `/api/v1/datasets/${stored.id}/query?sort=-id&limit=2&attributes=id`)
    assert.deepEqual(rows.body, [{ id: 4 }, { id: 3 }], rows.text)
    const tile = await call('GET', `/tiles/${stored.id}/0/0/0.geojson`)
    assert.equal(tile.body.features.length, 5)
    assert.ok(server.asked.every((line) => line.startsWith('200') || line.startsWith('304')))
    const shown = await call('GET', `/api/v1/databases/${id}`)
    assert.equal(shown.body.passwordSet, true)
    // Changed to a wrong secret, it says so at once.
    await call('PATCH', `/api/v1/databases/${id}`, { body: { password: 'another secret' } })
    const refused = await tried(id)
    assert.match(refused.error.message, /the signature does not match. Check password/)
    const moved = await call('PATCH', `/api/v1/databases/${id}`, { body: { host: 'https://elsewhere.example.org' } })
    assert.match(moved.body.detail, /^body\/password: is required when type, host/)
    const said = [made.text, tables.text, rows.text, shown.text, JSON.stringify(refused), moved.text, ...lines].join(
      '\n',
    )
    for (const secret of [key.secret, 'another secret', 'AWS4-HMAC-SHA256', 'Signature=']) {
      assert.equal(said.includes(secret), false, secret)
    }
  })

  test('is read without a key where it is public, and without a listing where files are named', async () => {
    server.objects.set('open/a.csv', Buffer.from('id\n1\n')).set('open/b.csv', Buffer.from('id\n2\n'))
    const { body: open } = await call('POST', '/api/v1/databases', { body: record() })
    assert.equal((await tried(open.id)).ok, true)
    assert.ok(server.asked.includes('200 /maps/'))
    server.asked.length = 0
    const { body: named } = await call('POST', '/api/v1/databases', {
      body: { ...record(), metadata: { files: ['b.csv'] } },
    })
    assert.equal((await tried(named.id)).ok, true)
    assert.deepEqual(server.asked, ['200 /maps/open/b.csv'])
  })

  test('says in words what is wrong with its fields', async () => {
    const wrong: [object, RegExp][] = [
      [{ db: 's3://maps' }, /^body\/db: must be a bucket and a prefix that ends with \//],
      [{ db: 's3://maps/a/../b/' }, /^body\/db/],
      [{ db: 's3://Maps/' }, /^body\/db/],
      [{ db: 's3://maps/a?x=1/' }, /^body\/db/],
      [{ db: 's3://ma..ps/' }, /^body\/db/],
      [{ db: 's3://10.0.0.1:80/' }, /^body\/db/],
      [{ host: 'minio.example.org' }, /^body\/host: must be absent for Amazon S3, or the address of another/],
      [{ host: 'https://minio.example.org/path' }, /^body\/host/],
      [{ host: 'https://user:secret@minio.example.org' }, /^body\/host/],
      [{ user: 'AKIA' }, /^body\/password: is required with user/],
      [{ password: 'secret' }, /^body\/user: is required with password/],
      [{ user: 'AKIA\nX: y', password: 'secret' }, /^body\/user/],
      [{ metadata: { region: 'x.example.org/' } }, /^body\/metadata\/region: must be the region of the bucket/],
      [{ metadata: { pathStyle: 'yes' } }, /^body\/metadata\/pathStyle/],
      [{ metadata: { files: [] } }, /^body\/metadata\/files: .*without it they are listed/],
    ]
    for (const [change, detail] of wrong) {
      const reply = await call('POST', '/api/v1/databases', { body: { ...record(), ...change } })
      assert.equal(reply.status, 400, JSON.stringify(change))
      assert.match(reply.body.detail, detail)
    }
    const guarded = await call('POST', '/api/v1/databases', { body: { ...record(), host: 'http://10.0.0.1' } })
    assert.match((await tried(guarded.body.id)).error.message, /The address is not allowed/)
  })
})
