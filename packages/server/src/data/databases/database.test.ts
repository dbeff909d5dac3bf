import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { forwardDatabase } from '../../../testing/peers/forwarded-database.ts'
import { later } from '../../../testing/processes/clock.ts'
import { sql } from '../../kernel/db/sql.ts'
import { database } from './database.ts'
import type { DatabaseDriver } from './driver.ts'
import { drivers } from './drivers.ts'

// One database is enough: contract.test.ts stores records of databases on both; the servers that they name are others.

const path = '/api/v1/databases'
const password = `pass word ${randomUUID()}`
const warehouse = {
  type: 'postgres',
  name: 'Warehouse',
  host: 'warehouse.example.org',
  port: 5432,
  user: 'reader',
  password,
  db: 'warehouse',
}
const noPostgres = process.env.TEST_DATABASE_URL ? false : 'needs a PostgreSQL server'

let app: TestApp
let tenant: Tenant
const made: Tenant[] = []
const newTenant = async (from: TestApp = app): Promise<Tenant> => {
  const one = await from.tenant('databases')
  if (from === app) made.push(one)
  return one
}
before(async () => {
  app = await testApp()
  tenant = await newTenant()
})
after(async () => {
  // Their roles outlive the database that they were made for.
  for (const { id } of made) await app.call('DELETE', `/api/v1/applications/${id}`)
  await app.close()
})

const call: TestApp['call'] = (method, url, request = {}) =>
  app.call(method, url, { key: tenant.developer, ...request })
const create = async (body: object = {}, key = tenant.developer, from: TestApp = app): Promise<string> => {
  const reply = await from.call('POST', path, { key, body: { ...warehouse, ...body } })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

type Database = { id: string; type: string; default: boolean }
const defaults = async (key: string): Promise<Database[]> =>
  (await call('GET', path, { key })).body.filter((database: Database) => database.default)

describe('records', () => {
  test('every new application has an internal database as its default', async () => {
    const { developer, id } = await newTenant()
    const { body } = await call('GET', path, { key: developer })
    assert.equal(body.length, 1)
    assert.deepEqual(
      [body[0].type, body[0].default, body[0].passwordSet, body[0].applicationId],
      ['internal', true, false, id],
    )
  })

  test('the default stays until another is it, and goes with its application', async () => {
    const { developer, id } = await newTenant()
    const [first] = (await call('GET', path, { key: developer })).body
    const remove = async () => (await call('DELETE', `${path}/${first.id}`, { key: developer })).status
    assert.equal(await remove(), 409)
    await call('POST', path, { key: developer, body: { type: 'internal', name: 'another', default: true } })
    assert.equal(await remove(), 200)
    assert.equal((await app.call('DELETE', `/api/v1/applications/${id}`)).status, 200)
  })

  test('the drivers are listed by name', async () => {
    const reply = await call('GET', `${path}/drivers`, { key: tenant.reader })
    assert.equal(reply.status, 200)
    assert.deepEqual(reply.body, ['duckdb', 'internal', 'postgres'])
  })

  test('details of the drivers say what each can do and what its form has', async () => {
    const { status, body } = await call('GET', `${path}/drivers?details=true`, { key: tenant.reader })
    assert.equal(status, 200)
    const names = (await call('GET', `${path}/drivers?details=false`, { key: tenant.reader })).body
    type Details = DatabaseDriver & { name: string }
    assert.deepEqual(
      body.map(({ name }: Details) => name),
      names,
    )
    const abilities = body.map(({ name, isPlatform, isWritable, canFollow }: Details) => [
      ...[name, isPlatform, isWritable, canFollow],
    ])
    assert.deepEqual(abilities, [
      ['duckdb', false, false, false],
      ['internal', true, true, true],
      ['postgres', false, true, true],
    ])
    const { title, fields } = body.find(({ name }: Details) => name === 'postgres') as Details
    assert.equal(title, 'PostgreSQL, PostGIS')
    assert.deepEqual(
      fields.filter(({ secret }) => secret).map(({ name }) => name),
      ['password', 'connectionString'],
    )
    const port = { name: 'port', label: 'Port', kind: 'integer', required: true, secret: false, default: 5432 }
    assert.deepEqual(
      fields.find(({ name }) => name === 'port'),
      { ...port, way: 'parts' },
    )
  })

  test('a form names only fields that a record has, and secrets only what is write-only', () => {
    for (const { fields, ways, summary } of Object.values<DatabaseDriver>(drivers)) {
      for (const { name, secret, way, when } of fields) {
        const [field = '', key] = name.split('.')
        assert.ok(field in database.fields && (field === 'metadata') === (key !== undefined), name)
        assert.equal(secret, database.fields[field]?.mode === 'writeOnly', name)
        assert.ok(way === undefined || ways?.choices.some((one) => one.name === way), way)
        assert.ok(when === undefined || fields.some((one) => one.name === when.field), name)
      }
      for (const [, name = ''] of summary.matchAll(/\{(.*?)\}/g)) assert.ok(name in database.fields, name)
    }
  })

  test('are created, read, listed, replaced, patched and deleted', async () => {
    const id = await create({ description: 'first' })
    const url = `${path}/${id}`
    const read = (await call('GET', url)).body
    assert.deepEqual(
      [read.type, read.name, read.description, read.host, read.port, read.user, read.db, read.default],
      ['postgres', 'Warehouse', 'first', 'warehouse.example.org', 5432, 'reader', 'warehouse', false],
    )
    const listed = (await call('GET', `${path}?filter[name]=Warehouse`)).body
    assert.deepEqual(listed.map((database: Database) => database.id).includes(id), true)
    const replaced = await call('PUT', url, { body: { ...warehouse, name: 'Other' } })
    assert.equal(replaced.status, 200, replaced.text)
    assert.deepEqual([replaced.body.name, replaced.body.description], ['Other', 'first'])
    const patched = await call('PATCH', url, { body: { description: 'second' } })
    assert.equal(patched.status, 200, patched.text)
    assert.deepEqual([patched.body.name, patched.body.description], ['Other', 'second'])
    assert.equal((await call('DELETE', url)).status, 200)
    assert.equal((await call('GET', url)).status, 404)
  })

  test('of another application are absent', async () => {
    const id = await create()
    const { developer } = await newTenant()
    for (const [method, url] of [
      ['GET', `${path}/${id}`],
      ['DELETE', `${path}/${id}`],
      ['POST', `${path}/${id}/test`],
    ] as const) {
      assert.equal((await call(method, url, { key: developer })).status, 404, method)
    }
  })

  test('need a user, a database and a port when they are a server', async () => {
    for (const wrong of [{ user: '' }, { db: '' }, { port: 0 }, { port: 65_536 }, { type: 'mysql' }]) {
      const reply = await call('POST', path, { body: { ...warehouse, ...wrong } })
      assert.equal(reply.status, 400, JSON.stringify(wrong))
    }
  })

  test('name a host, never a path, a list, a connection string or anything else a driver would interpret', async () => {
    const id = await create()
    for (const host of [
      '',
      '/var/run/postgresql',
      './socket',
      'a/b',
      'a.example.org,b.example.org',
      'postgres://reader@a.example.org/warehouse',
      'host=a.example.org port=5432',
      'a example.org',
      ' a.example.org',
      'a.example.org\n',
      'reader@a.example.org',
      'a.example.org?sslmode=disable',
      '@abstract',
      'a%2fb',
    ]) {
      const made = await call('POST', path, { body: { ...warehouse, host } })
      assert.equal(made.status, 400, JSON.stringify(host))
      const patched = await call('PATCH', `${path}/${id}`, { body: { host, password } })
      assert.equal(patched.status, 400, JSON.stringify(host))
    }
  })

  test('in use by a dataset stay', async () => {
    const { developer } = await newTenant()
    const id = await create({ type: 'internal', name: 'Second' }, developer)
    const dataset = await call('POST', '/api/v1/datasets', {
      key: developer,
      body: { type: 'sql', name: 'One', source: 'SELECT 1 AS one', databaseId: id },
    })
    assert.equal(dataset.status, 201, dataset.text)
    assert.equal((await call('DELETE', `${path}/${id}`, { key: developer })).status, 409)
    assert.equal((await call('GET', `${path}/${id}`, { key: developer })).status, 200)
    await call('DELETE', `/api/v1/datasets/${dataset.body.id}`, { key: developer })
    assert.equal((await call('DELETE', `${path}/${id}`, { key: developer })).status, 200)
  })
})

describe('the password', () => {
  const isSilent = (text: string, because: string) => {
    assert.ok(!text.includes(password), because)
    assert.doesNotMatch(text, /"password":/, because)
  }

  test('is returned by no operation, join or list', async () => {
    const { developer, id: applicationId } = await newTenant()
    const created = await call('POST', path, { key: developer, body: warehouse })
    const { id } = created.body
    isSilent(created.text, 'create')
    for (const [method, url, body] of [
      ['GET', `${path}/${id}`],
      ['GET', `${path}/${id}?join=application`],
      ['GET', path],
      ['GET', `${path}?join=application`],
      ['GET', `/api/v1/applications/${applicationId}?join=databases`],
      ['GET', `/api/v1/applications?join=databases`],
      ['PUT', `${path}/${id}`, warehouse],
      ['PATCH', `${path}/${id}`, { password }],
      ['POST', `${path}/${id}/test`],
      ['PUT', `${path}/${id}/metadata`, { a: 1 }],
      ['GET', `${path}/${id}/metadata`],
    ] as const) {
      const reply = await call(method, url, { key: developer, ...(body && { body }) })
      assert.ok(reply.status < 300, `${method} ${url} ${reply.text}`)
      isSilent(reply.text, `${method} ${url}`)
    }
  })

  test('can be neither selected, nor filtered, nor sorted by', async () => {
    for (const query of [
      'fields=password',
      'fields=id,password',
      'sort=password',
      'sort=-password',
      'filter[password][$like]=%25',
      `filter[password]=${encodeURIComponent(password)}`,
      `filter=${encodeURIComponent('{"$or":[{"password":{"$ne":null}}]}')}`,
    ]) {
      assert.equal((await call('GET', `${path}?${query}`)).status, 400, query)
    }
  })

  test('is not in the database in plain text', async () => {
    const id = await create()
    const [row] = await app.db.query<{ text: string; password: string }>(
      sql`SELECT d::text AS text, password FROM svc.databases d WHERE id = ${id}::uuid`,
    )
    assert.ok(row)
    assert.ok(row.password.length > 0)
    for (const form of [password, Buffer.from(password).toString('base64'), Buffer.from(password).toString('hex')]) {
      assert.ok(!row.text.includes(form))
    }
  })

  test('is sealed anew each time, so equal passwords do not look equal', async () => {
    const ids = [await create(), await create()]
    const rows = await app.db.query<{ password: string }>(
      sql`SELECT password FROM svc.databases WHERE id = ANY(${ids}::uuid[])`,
    )
    assert.equal(new Set(rows.map((row) => row.password)).size, 2)
  })

  test('is known to be set or not, and stays when it is not mentioned', async () => {
    const id = await create()
    const url = `${path}/${id}`
    const { password: _, ...silent } = warehouse
    const isSet = async () => (await call('GET', url)).body.passwordSet
    assert.equal(await isSet(), true)
    assert.equal((await call('PUT', url, { body: silent })).status, 200)
    assert.equal(await isSet(), true)
    assert.equal((await call('PATCH', url, { body: { name: 'Renamed' } })).status, 200)
    assert.equal(await isSet(), true)
    assert.equal((await call('PATCH', url, { body: { password: null } })).status, 200)
    assert.equal(await isSet(), false)
    const bare = await call('POST', path, { body: silent })
    assert.deepEqual([bare.status, bare.body.passwordSet], [201, false])
  })

  const moves = { host: 'other.example.org', port: 5433, user: 'writer', type: 'internal', db: 'other' }
  for (const [name, value] of Object.entries(moves)) {
    test(`must be given again when ${name} changes`, async () => {
      const id = await create()
      const url = `${path}/${id}`
      const { password: _, ...silent } = warehouse
      for (const [method, body] of [
        ['PATCH', { [name]: value }],
        ['PATCH', { [name]: value, password: null }],
        ['PUT', { ...silent, [name]: value }],
      ] as const) {
        const refused = await call(method, url, { body })
        assert.equal(refused.status, 400, `${method} ${refused.text}`)
        assert.match(refused.text, /password/)
      }
      assert.equal((await call('GET', url)).body[name], warehouse[name as keyof typeof warehouse])
      const moved = await call('PATCH', url, { body: { [name]: value, password } })
      assert.equal(moved.status, 200, moved.text)
      assert.equal(moved.body[name], value)
      assert.equal((await call('PUT', url, { body: warehouse })).status, 200)
    })
  }
})

describe('the default', () => {
  test('moves to the record that is made the default', async () => {
    const { developer } = await newTenant()
    const id = await create({ default: true }, developer)
    assert.deepEqual(
      (await defaults(developer)).map((database) => database.id),
      [id],
    )
    const [internal] = (await call('GET', `${path}?filter[type]=internal`, { key: developer })).body
    const moved = await call('PATCH', `${path}/${internal.id}`, { key: developer, body: { default: true } })
    assert.equal(moved.status, 200, moved.text)
    assert.deepEqual(
      (await defaults(developer)).map((database) => database.id),
      [internal.id],
    )
  })

  test('is one, however many are made the default at once', async () => {
    const { developer } = await newTenant()
    const ids = await Promise.all(Array.from({ length: 10 }, () => create({ default: true }, developer)))
    assert.equal((await defaults(developer)).length, 1)
    const patches = [...ids, ...ids, ...ids].map((id) =>
      call('PATCH', `${path}/${id}`, { key: developer, body: { default: true } }),
    )
    const replies = await Promise.all(patches)
    assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
    assert.equal((await defaults(developer)).length, 1)
  })

  test('of another application is left alone', async () => {
    const other = await newTenant()
    const [mine] = await defaults(other.developer)
    await create({ default: true }, (await newTenant()).developer)
    assert.deepEqual(await defaults(other.developer), [mine])
  })

  test('cannot be given up without another', async () => {
    const { developer } = await newTenant()
    const id = await create({ default: true }, developer)
    const patched = await call('PATCH', `${path}/${id}`, { key: developer, body: { default: false } })
    assert.equal(patched.status, 400, patched.text)
    const replaced = await call('PUT', `${path}/${id}`, { key: developer, body: { ...warehouse, default: false } })
    assert.equal(replaced.status, 400, replaced.text)
    assert.equal((await defaults(developer)).length, 1)
  })

  test('is where a dataset goes that names no database', async () => {
    const { developer } = await newTenant()
    const id = await create({ type: 'internal', default: true }, developer)
    const body = { type: 'sql', name: 'One', source: 'SELECT 1 AS one' }
    const reply = await call('POST', '/api/v1/datasets', { key: developer, body })
    assert.equal(reply.body.databaseId, id)
  })
})

describe('the list of an application’s databases', () => {
  test('comes without passwords, and is empty without read access', async () => {
    const { developer, id } = await newTenant()
    await create({}, developer)
    const url = '/api/v1/applications?join=databases'
    const [seen] = (await call('GET', url, { key: developer })).body
    assert.deepEqual(seen.databases.map((database: Database) => database.type).toSorted(), ['internal', 'postgres'])
    assert.ok(seen.databases.every((database: object) => !('password' in database)))
    const blind = await app.key(id, { applications: { read: '*' } })
    const [unseen] = (await call('GET', url, { key: blind })).body
    assert.deepEqual(unseen.databases, [])
  })
})

/** A port on which nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}

const tryOut = async (id: string, key = tenant.developer, from: TestApp = app) => {
  const reply = await from.call('POST', `${path}/${id}/test`, { key })
  assert.equal(reply.status, 200, reply.text)
  assert.equal(typeof reply.body.latencyMs, 'number')
  return reply.body
}

describe('the test of a connection', () => {
  test('of an internal database tells the versions', async () => {
    const [internal] = (await call('GET', `${path}?filter[type]=internal`)).body
    const { ok, serverVersion, postgisVersion, error } = await tryOut(internal.id)
    assert.deepEqual([ok, error], [true, undefined])
    assert.match(serverVersion, /^\d+/)
    assert.match(postgisVersion, /^3\./)
  })

  test('needs execute', async () => {
    const [internal] = (await call('GET', `${path}?filter[type]=internal`)).body
    const reader = await app.key(tenant.id, { databases: { read: '*' } })
    assert.equal((await call('POST', `${path}/${internal.id}/test`, { key: reader })).status, 401)
  })

  test('fails with one message that names no address, whatever is wrong with the network', async () => {
    const port = await freePort()
    const deaf = createServer((socket) => socket.destroy())
    await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve))
    const address = deaf.address()
    const deafPort = typeof address === 'object' && address ? address.port : 0
    const errors = []
    for (const server of [
      { host: '127.0.0.1', port },
      { host: '127.0.0.1', port: deafPort },
      { host: 'nowhere.invalid', port: 5432 },
    ]) {
      const { ok, error } = await tryOut(await create(server))
      assert.equal(ok, false)
      assert.doesNotMatch(error.message, /\d|localhost|invalid|ECONN|ENOTFOUND/)
      errors.push(error)
    }
    deaf.close()
    assert.deepEqual(errors, Array(3).fill(errors[0]))
    assert.equal(errors[0].code, 'unreachable')
  })
})

describe('a PostgreSQL server', { skip: noPostgres }, () => {
  const name = `graticule_test_external_${randomUUID().replaceAll('-', '')}`
  let place: { host: string; port: number; user: string; password: string; db: string }
  let administrator: pg.Client
  let forwarded: Awaited<ReturnType<typeof forwardDatabase>>

  before(async () => {
    const url = new URL(app.adminUrl ?? '')
    forwarded = await forwardDatabase(url.href)
    administrator = new pg.Client({ connectionString: url.href })
    await administrator.connect()
    await administrator.query(`CREATE DATABASE ${name} TEMPLATE graticule_template`)
    await administrator.query(`CREATE ROLE ${name} LOGIN PASSWORD 'secret'`)
    const inside = new URL(url)
    inside.pathname = `/${name}`
    const client = new pg.Client({ connectionString: inside.href })
    await client.connect()
    await client.query(`
      CREATE TABLE things (id int PRIMARY KEY, name text, geom geometry(Point, 4326));
      INSERT INTO things SELECT i, 'thing ' || i, ST_Point(i, i, 4326) FROM generate_series(1, 5) i;
      GRANT SELECT ON things TO ${name};
      CREATE SCHEMA other;
      CREATE TABLE other.hidden AS SELECT 1 AS one`)
    await client.end()
    place = { host: '127.0.0.1', port: Number(new URL(forwarded.url).port), user: name, password: 'secret', db: name }
  })
  after(async () => {
    // The service may still be connected.
    await administrator.query(`DROP DATABASE ${name} WITH (FORCE)`)
    await administrator.query(`DROP ROLE ${name}`)
    await administrator.end()
    forwarded.close()
  })

  const dataset = (body: object, key = tenant.developer, from: TestApp = app) =>
    from.call('POST', '/api/v1/datasets', { key, body: { name: 'a', ...body } })

  test('is tested, and its tables and queries are datasets', async () => {
    const databaseId = await create(place)
    const { ok, serverVersion, postgisVersion } = await tryOut(databaseId)
    assert.equal(ok, true)
    assert.match(serverVersion, /^\d+/)
    assert.match(postgisVersion, /^3\./)
    for (const body of [
      { type: 'table', source: 'public.things' },
      { type: 'table', source: 'things' },
      { type: 'sql', source: 'SELECT * FROM things' },
    ]) {
      const made = await dataset({ ...body, databaseId })
      assert.equal(made.status, 201, made.text)
      assert.deepEqual(
        made.body.attributes.map(({ type }: { type: string }) => type),
        ['integer', 'string', 'geometry'],
      )
      const url = `/api/v1/datasets/${made.body.id}/query?filter[id][$gte]=4&sort=-id`
      const reply = await call('GET', url)
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(reply.body, [
        { id: 5, name: 'thing 5', geom: { type: 'Point', coordinates: [5, 5] } },
        { id: 4, name: 'thing 4', geom: { type: 'Point', coordinates: [4, 4] } },
      ])
    }
  })

  test('gives no more than its user may have, and takes nothing', async () => {
    const databaseId = await create(place)
    for (const source of ['SELECT * FROM other.hidden', 'DELETE FROM things', 'SELECT * FROM svc.apikeys']) {
      assert.equal((await dataset({ type: 'sql', source, databaseId })).status, 400, source)
    }
    assert.equal((await dataset({ type: 'table', source: 'other.hidden', databaseId })).status, 400)
  })

  test('that refuses the user or has no such database says so, and names no address', async () => {
    for (const wrong of [{ user: `${name}_nobody` }, { db: `${name}_nothing` }]) {
      const id = await create({ ...place, ...wrong })
      const { ok, error } = await tryOut(id)
      assert.equal(ok, false)
      assert.deepEqual(error, { code: 'refused', message: 'The server refused the user, password or database.' })
      const reply = await dataset({ type: 'sql', source: 'SELECT 1 AS one', databaseId: id })
      assert.ok([400, 502].includes(reply.status), reply.text)
      assert.doesNotMatch(reply.body.detail, /127\.0|_nobody|_nothing|pg_hba/)
    }
  })

  test('is tested at its new place at once, and read there within a second, when the record changes', async () => {
    const databaseId = await create(place)
    const made = await dataset({ type: 'sql', source: 'SELECT current_database() AS db', databaseId })
    const url = `/api/v1/datasets/${made.body.id}/query`
    assert.deepEqual((await call('GET', url)).body, [{ db: name }])
    const db = new URL(app.url ?? '').pathname.slice(1)
    const moved = await call('PATCH', `${path}/${databaseId}`, { body: { db, password: 'secret' } })
    assert.equal(moved.status, 200, moved.text)
    later(1_000)
    assert.deepEqual((await call('GET', url)).body, [{ db }])
    assert.equal((await tryOut(databaseId)).ok, true)
    const body = { db: `${name}_nothing`, password: 'secret' }
    assert.equal((await call('PATCH', `${path}/${databaseId}`, { body })).status, 200)
    assert.equal((await tryOut(databaseId)).ok, false)
  })

  test('is tested before anything is stored, and before a change of it is', async () => {
    const draft = async (body: object, key?: string) =>
      call('POST', `${path}/test`, { body: { type: 'postgres', name: 'draft', ...body }, ...(key && { key }) })
    const count = async () => (await call('GET', path)).body.length
    const before = await count()
    assert.equal((await draft(place)).body.ok, true)
    const wrong = await draft({ ...place, db: `${name}_nothing` })
    assert.deepEqual([wrong.status, wrong.body.ok], [200, false])
    assert.ok(wrong.body.error.message)
    assert.equal((await draft({ ...place, user: '' })).status, 400)
    assert.equal(await count(), before)
    const { password: _, ...unchanged } = place
    const id = await create(place)
    assert.equal((await draft({ ...unchanged, id })).body.ok, true, 'with the stored password')
    const moved = await draft({ ...unchanged, id, user: 'postgres' })
    assert.deepEqual([moved.status, moved.body.errors[0].path], [400, 'body/password'], 'which is for its login alone')
    assert.equal((await draft(place, tenant.public)).status, 401)
    const writer = await app.key(tenant.id, { databases: { write: '*' } })
    assert.equal((await draft(place, writer)).status, 401)
  })

  for (const { settings, isAllowed } of [
    { settings: { EGRESS_ALLOW: '' }, isAllowed: false },
    { settings: { EGRESS_ALLOW: '', NODE_ENV: 'development' }, isAllowed: false },
    { settings: { EGRESS_ALLOW: '10.0.0.0/8', HOST: '0.0.0.0' }, isAllowed: false },
    { settings: { EGRESS_ALLOW: 'private', NODE_ENV: 'production' }, isAllowed: true },
  ]) {
    test(`on loopback is ${isAllowed ? 'reached' : 'refused'} with ${JSON.stringify(settings)}`, async () => {
      const strict = await testApp(settings)
      const { id, developer } = await newTenant(strict)
      try {
        const databaseId = await create(place, developer, strict)
        const { ok, error } = await tryOut(databaseId, developer, strict)
        assert.equal(ok, isAllowed)
        if (!isAllowed) assert.match(error.message, /not allowed.*EGRESS_ALLOW/)
        if (!isAllowed) assert.doesNotMatch(error.message, /127\.|localhost/)
        const made = await dataset({ type: 'table', source: 'public.things', databaseId }, developer, strict)
        assert.equal(made.status, isAllowed ? 201 : 400, made.text)
        const own = await dataset({ type: 'sql', source: 'SELECT 1 AS one' }, developer, strict)
        assert.equal(own.status, 201, own.text)
      } finally {
        await strict.call('DELETE', `/api/v1/applications/${id}`)
        await strict.close()
      }
    })
  }

  test('that is the platform’s own is refused by every address and name, whatever EGRESS_ALLOW says', async () => {
    const { hostname, port } = new URL(app.url ?? '')
    const ownAddresses = Object.values(networkInterfaces()).flatMap((group) => group ?? [])
    const hosts = ['127.0.0.1', 'localhost', '127.0.0.2', '::1', '::ffff:127.0.0.1', '0.0.0.0', hostname]
    const wide = `*,private,127.0.0.0/8,127.0.0.1,localhost,127.0.0.1:${port},localhost:${port},127.0.0.1:*`
    const open = await testApp({ EGRESS_ALLOW: wide })
    const { id, developer } = await newTenant(open)
    try {
      for (const host of [...hosts, ...ownAddresses.map(({ address }) => address)]) {
        const own = { ...place, host, port: Number(port), user: 'postgres', db: 'postgres' }
        const databaseId = await create(own, developer, open)
        const { ok, error } = await tryOut(databaseId, developer, open)
        assert.equal(ok, false, host)
        assert.match(error.message, /not allowed/, host)
        const made = await dataset({ type: 'sql', source: 'SELECT 1 AS one', databaseId }, developer, open)
        assert.equal(made.status, 400, host)
      }
    } finally {
      await open.call('DELETE', `/api/v1/applications/${id}`)
      await open.close()
    }
  })
})
