import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, type TestContext, test } from 'node:test'
import { testFolder } from '../../../../../driver-duckdb/testing/folder.ts'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { plainStream } from '../../../../testing/peers/s3-server.ts'
import { createRemoteFiles, type RemoteOptions } from './remote-files.ts'
import { httpsSource } from './remote-source.ts'

// One database is enough: files are copied and read by DuckDB; where its record is stored does not matter.

/** Files of the server by their path; a number is a status. */
const served = new Map<string, Buffer | number>()
const asked: string[] = []
/** For machines that are busy with other work. */
const patienceMs = 600_000
let server: Server
let origin: string

before(async () => {
  server = createServer((request, response) => {
    const found = served.get(request.url ?? '') ?? 404
    if (typeof found === 'number') {
      asked.push(`${found} ${request.url}`)
      return void response.writeHead(found, { location: '/elsewhere' }).end()
    }
    const etag = `"${found.length}"`
    const isSame = request.headers['if-none-match'] === etag
    asked.push(`${isSame ? 304 : 200} ${request.url}`)
    response.writeHead(isSame ? 304 : 200, { etag }).end(isSame ? undefined : found)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => new Promise<unknown>((resolve) => server.close(resolve)))
beforeEach(() => {
  served.clear()
  asked.length = 0
})

describe('copies of remote files', () => {
  async function setUp(t: TestContext, options: Partial<RemoteOptions> = {}) {
    const root = await mkdtemp(join(tmpdir(), 'remote-files-'))
    t.after(() => rm(root, { recursive: true, force: true }))
    const errors: unknown[] = []
    const files = createRemoteFiles({
      onError: (error) => errors.push(error),
      trustMs: 0,
      patienceMs,
      ...options,
    })
    const at = (name: string, ...names: string[]) => ({
      directory: join(root, name),
      key: names.join(),
      source: httpsSource(`${origin}/`, names, plainStream),
    })
    return { root, errors, files, at }
  }

  test('are fetched once, and again when their ETag has changed', async (t) => {
    const { files, at, root } = await setUp(t)
    served.set('/a.csv', Buffer.from('id\n1\n')).set('/b%20b.csv', Buffer.from('id\n2\n'))
    const folder = at('db', 'a.csv', 'b b.csv')
    await files.ready(folder, undefined)
    assert.deepEqual(asked.toSorted(), ['200 /a.csv', '200 /b%20b.csv'])
    served.set('/a.csv', Buffer.from('id\n10\n'))
    // Another server of the same data directory: it has nothing in memory, but the copies.
    await (await setUp(t)).files.ready({ ...folder, directory: join(root, 'db') }, undefined)
    assert.deepEqual(asked.slice(2).toSorted(), ['200 /a.csv', '304 /b%20b.csv'])
    assert.equal(await readFile(join(root, 'db', 'a.csv'), 'utf8'), 'id\n10\n')
  })

  test('outlive a server that fails, and go with a file that is gone or no longer named', async (t) => {
    const { files, at, root, errors } = await setUp(t)
    served.set('/a.csv', Buffer.from('id\n1\n')).set('/b.csv', Buffer.from('id\n1\n'))
    await files.ready(at('db', 'a.csv', 'b.csv'), undefined)
    served.set('/a.csv', 503).set('/b.csv', 404)
    await (await setUp(t)).files.ready({ ...at('db', 'a.csv', 'b.csv') }, undefined)
    assert.deepEqual((await readdir(join(root, 'db'))).toSorted(), ['.index.json', 'a.csv'])
    await files.ready(at('db', 'c.csv'), undefined).catch(() => {})
    assert.deepEqual(await readdir(join(root, 'db')), ['.index.json'])
    assert.equal(errors.length, 1)
  })

  test('that cannot be had are an error in words when there is no other', async (t) => {
    const { files, at } = await setUp(t)
    served.set('/moved.csv', 302)
    await assert.rejects(files.ready(at('db', 'absent.csv'), undefined), {
      code: 'invalid_request',
      message: 'absent.csv: the server answered with status 404.',
    })
    await assert.rejects(files.ready(at('db', 'moved.csv'), undefined), { message: /status 302. Redirects are not/ })
    served.set('/a.csv', Buffer.from('id\n1\n'))
    await files.ready(at('db', 'a.csv', 'absent.csv'), undefined)
  })

  test('are no larger than allowed, one by one and together', async (t) => {
    const { files, at, root } = await setUp(t, { maxFileBytes: 1_000, maxBytes: 2_300 })
    served.set('/large.csv', Buffer.alloc(1_001))
    await assert.rejects(files.ready(at('a', 'large.csv'), undefined), { code: 'too_large', message: /a remote file/ })
    assert.deepEqual(await readdir(join(root, 'a')), ['.index.json'])
    for (const name of ['1', '2', '3']) served.set(`/${name}.csv`, Buffer.alloc(900))
    await files.ready(at('first', '1.csv'), undefined)
    await files.ready(at('second', '2.csv'), undefined)
    await files.ready(at('third', '3.csv'), undefined)
    // The folder that was not used for longest made room.
    assert.deepEqual((await readdir(root)).toSorted(), ['second', 'third'])
  })
})

describe('a database of files behind an address', () => {
  let app: TestApp
  let tenant: Tenant
  const call: TestApp['call'] = (method, url, request = {}) =>
    app.call(method, url, { key: tenant.developer, ...request })
  before(async () => {
    app = await testApp()
    tenant = await app.tenant('remote')
  })
  after(() => app.close())

  test('is queried like any other', async (t) => {
    const folder = testFolder(t)
    await folder.write('t.parquet', `SELECT range AS id, ('POINT(1 ' || range || ')')::GEOMETRY AS geom FROM range(5)`)
    served.set('/open/t.parquet', await readFile(folder.path('t.parquet')))
    const body = { type: 'duckdb', name: 'Open', db: `${origin}/open/`, metadata: { files: ['t.parquet'] } }
    const made = await call('POST', '/api/v1/databases', { body })
    assert.equal(made.status, 201, made.text)
    const tried = await call('POST', `/api/v1/databases/${made.body.id}/test`)
    assert.match(tried.body.serverVersion ?? '', /^DuckDB \d+\.\d+\.\d+$/, tried.text)
    const dataset = { type: 'table', name: 't', source: 't', databaseId: made.body.id }
    const { body: stored } = await call('POST', '/api/v1/datasets', { body: dataset })
    const rows = await call('GET', `/api/v1/datasets/${stored.id}/query?sort=-id&limit=2&attributes=id`)
    assert.deepEqual(rows.body, [{ id: 4 }, { id: 3 }], rows.text)
    const tile = await call('GET', `/tiles/${stored.id}/0/0/0.geojson`)
    assert.equal(tile.body.features.length, 5)
  })

  test('says in words what is wrong with its address, its files or its server', async () => {
    const files = { files: ['t.parquet'] }
    const wrong: [string, object, RegExp][] = [
      ['ftp://example.org/data/', files, /^body\/db: must be a folder, an https address or an S3 prefix such as/],
      ['https://example.org/data', files, /^body\/db: must be an address that ends with \//],
      ['https://user:secret@example.org/', files, /without a user/],
      ['https://example.org/?sig=x/', files, /without a user, a password or a query/],
      ['https://example.org/a/../', files, /^body\/db/],
      ['https://example.org/', {}, /^body\/metadata\/files: must be a list of 1 to 100 names/],
      ['https://example.org/', { files: ['../a.csv'] }, /^body\/metadata\/files/],
      ['https://example.org/', { files: [] }, /^body\/metadata\/files/],
    ]
    for (const [db, metadata, detail] of wrong) {
      const reply = await call('POST', '/api/v1/databases', { body: { type: 'duckdb', name: 'x', db, metadata } })
      assert.equal(reply.status, 400, db)
      assert.match(reply.body.detail, detail, db)
    }
    const closed = { type: 'duckdb', name: 'x', db: 'http://10.0.0.1/', metadata: files }
    for (const [body, message] of [
      [closed, /address/],
      [{ ...closed, db: `${origin}/absent/` }, /t\.parquet: the server answered with status 404/],
    ] as const) {
      const made = await call('POST', '/api/v1/databases', { body })
      const tried = await call('POST', `/api/v1/databases/${made.body.id}/test`)
      assert.equal(tried.body.ok, false, tried.text)
      assert.match(tried.body.error.message, message)
    }
  })
})
