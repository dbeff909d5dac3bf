import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { complete, loggedIn, message, startRogue } from '../../../testing/hostile/rogue-postgres.ts'
import { forwardDatabase } from '../../../testing/peers/forwarded-database.ts'
import { ident, sql } from '../../kernel/db/sql.ts'
import { tenantSchema } from './tenant-schema.ts'

const path = '/api/v1/databases'
const noPostgres = process.env.TEST_DATABASE_URL ? false : 'needs a PostgreSQL server'

let app: TestApp
const made: Tenant[] = []
const newTenant = async (): Promise<Tenant> => {
  const tenant = await app.tenant('tables')
  made.push(tenant)
  return tenant
}
before(async () => {
  app = await testApp()
})
after(async () => {
  for (const { id } of made) await app.call('DELETE', `/api/v1/applications/${id}`)
  await app.close()
})

type Table = { schema: string; name: string; datasetId: string | null }
type Published = {
  published: { table: string; datasetId: string; name: string }[]
  skipped: { table: string; code: string; datasetId?: string }[]
}

describe('the tables of an internal database', () => {
  let tenant: Tenant
  let databaseId: string
  before(async () => {
    tenant = await newTenant()
    const schema = tenantSchema(tenant.id)
    await app.db.query(
      sql`CREATE TABLE ${ident(schema, 'roads')} (id int PRIMARY KEY, name text, geom geometry(LineString, 4326))`,
    )
    await app.db.query(sql`COMMENT ON TABLE ${ident(schema, 'roads')} IS 'Ways to go'`)
    await app.db.query(
      sql`INSERT INTO ${ident(schema, 'roads')} SELECT i, 'a', 'SRID=4326;LINESTRING(0 0,1 1)' FROM generate_series(1, 30) i`,
    )
    await app.db.query(sql`ANALYZE ${ident(schema, 'roads')}`)
    await app.db.query(sql`CREATE TABLE ${ident(schema, 'odd "name".x')} (id int)`)
    await app.db.query(sql`CREATE TABLE ${ident(schema, `svc_ov_${'0'.repeat(32)}_0`)} (id int)`)
    const other = await newTenant()
    await app.db.query(sql`CREATE TABLE ${ident(tenantSchema(other.id), 'foreign_secret')} (id int)`)
    databaseId = (await app.call('GET', path, { key: tenant.developer })).body[0].id
  })

  test('are those of the application, with rows, geometry and comment', async () => {
    const { status, body, text } = await app.call('GET', `${path}/${databaseId}/tables`, { key: tenant.reader })
    assert.equal(status, 200, text)
    assert.deepEqual(
      body.map(({ name }: Table) => name),
      ['odd "name".x', 'roads'],
    )
    assert.deepEqual(body[1], {
      schema: tenantSchema(tenant.id),
      name: 'roads',
      source: 'roads',
      kind: 'table',
      rows: 30,
      geometryColumn: 'geom',
      geometryType: 'LineString',
      srid: 4326,
      comment: 'Ways to go',
      datasetId: null,
    })
    const inOther = await app.call('GET', `${path}/${databaseId}/tables?schema=svc`, { key: tenant.reader })
    assert.deepEqual(inOther.body, [])
    const second = await app.call('GET', `${path}/${databaseId}/tables?limit=1&offset=1`, { key: tenant.reader })
    assert.deepEqual(
      second.body.map(({ name }: Table) => name),
      ['roads'],
    )
  })

  test('become datasets once, whatever their names', async () => {
    const publish = async (body: object): Promise<Published> => {
      const reply = await app.call('POST', `${path}/${databaseId}/publish`, { key: tenant.developer, body })
      assert.equal(reply.status, 200, reply.text)
      return reply.body
    }
    const wrong = { tables: ['roads', 'raods', 'nowhere'] }
    const refused = await app.call('POST', `${path}/${databaseId}/publish`, { key: tenant.developer, body: wrong })
    assert.equal(refused.status, 400)
    assert.deepEqual(
      refused.body.errors.map((fault: { path: string }) => fault.path),
      ['body/tables/1', 'body/tables/2'],
    )
    assert.match(refused.body.errors[0].message, /^"raods" is not a table that can be read\. Did you mean "roads"\?/)
    const first = await publish({ tables: ['roads'] })
    assert.deepEqual(
      first.published.map(({ name }) => name),
      ['roads'],
    )
    assert.deepEqual(first.skipped, [])
    const all = await publish({})
    assert.deepEqual(
      all.published.map(({ name }) => name),
      ['odd "name".x'],
    )
    const [road] = first.published
    assert.deepEqual(
      all.skipped.map(({ code, datasetId }) => [code, datasetId]),
      [['already_published', road?.datasetId]],
    )
    const dataset = await app.call('GET', `/api/v1/datasets/${road?.datasetId}`, { key: tenant.developer })
    assert.equal(dataset.body.description, 'Ways to go')
    assert.deepEqual(
      dataset.body.attributes.map((one: { name: string; primaryKey: boolean; srid?: number }) => [
        one.name,
        one.primaryKey,
        one.srid,
      ]),
      [
        ['id', true, undefined],
        ['name', false, undefined],
        ['geom', false, 4326],
      ],
    )
    const { body: tables } = await app.call('GET', `${path}/${databaseId}/tables`, { key: tenant.developer })
    assert.ok(tables.every(({ datasetId }: Table) => datasetId))
    const blind = await app.key(tenant.id, { databases: { execute: '*' } })
    const unseen = await app.call('GET', `${path}/${databaseId}/tables`, { key: blind })
    assert.ok(unseen.body.every(({ datasetId }: Table) => datasetId === null))
  })

  test('are published only with write access to datasets, and not from another application', async () => {
    for (const permissions of [
      { databases: { '*': '*' } },
      { databases: { '*': '*' }, datasets: { read: '*' } },
      { databases: { '*': '*' }, datasets: { write: [randomUUID()] } },
      { databases: { execute: '*' }, datasets: { write: '*' } },
      { databases: { read: '*' }, datasets: { write: '*' } },
    ]) {
      const key = await app.key(tenant.id, permissions as never)
      const reply = await app.call('POST', `${path}/${databaseId}/publish`, { key, body: {} })
      assert.equal(reply.status, 401, JSON.stringify(permissions))
    }
    const other = await newTenant()
    for (const [method, action, body] of [
      ['GET', 'tables', undefined],
      ['POST', 'publish', {}],
    ] as const) {
      const reply = await app.call(method, `${path}/${databaseId}/${action}`, {
        key: other.developer,
        ...(body && { body }),
      })
      assert.equal(reply.status, 404, action)
    }
  })
})

describe('the tables of a server', { skip: noPostgres }, () => {
  const name = `graticule_test_tables_${randomUUID().replaceAll('-', '')}`
  let administrator: pg.Client
  let forwarded: Awaited<ReturnType<typeof forwardDatabase>>
  let tenant: Tenant
  let databaseId: string
  before(async () => {
    tenant = await newTenant()
    forwarded = await forwardDatabase(app.url ?? '')
    administrator = new pg.Client({ connectionString: app.adminUrl })
    await administrator.connect()
    await administrator.query(`CREATE DATABASE ${name} TEMPLATE graticule_template`)
    await administrator.query(`CREATE ROLE ${name} LOGIN PASSWORD 's3cret/pass'`)
    const inside = new URL(app.adminUrl ?? '')
    inside.pathname = `/${name}`
    const client = new pg.Client({ connectionString: inside.href })
    await client.connect()
    await client.query(`
      CREATE SCHEMA land;
      CREATE TABLE land.parcels (id int PRIMARY KEY, geom geometry(MultiPolygon, 3067));
      CREATE VIEW public.places AS SELECT 1 AS id, ST_Point(1, 2, 4326)::geography AS here;
      CREATE TABLE public.days (id int, day date) PARTITION BY RANGE (day);
      CREATE TABLE public.days_old PARTITION OF public.days FOR VALUES FROM ('2000-01-01') TO ('2010-01-01');
      CREATE TABLE public.hidden (id int);
      GRANT USAGE ON SCHEMA land TO ${name};
      GRANT SELECT ON land.parcels, public.places, public.days TO ${name}`)
    await client.end()
    const { port } = new URL(forwarded.url)
    const connectionString = `postgresql://${name}:${encodeURIComponent('s3cret/pass')}@127.0.0.1:${port}/${name}?sslmode=disable`
    const body = { type: 'postgres', name: 'Land', connectionString }
    const reply = await app.call('POST', path, { key: tenant.developer, body })
    assert.equal(reply.status, 201, reply.text)
    databaseId = reply.body.id
  })
  after(async () => {
    await administrator.query(`DROP DATABASE ${name} WITH (FORCE)`)
    await administrator.query(`DROP ROLE ${name}`)
    await administrator.end()
    forwarded.close()
  })

  test('are those that its user may read, without what extensions brought, and all are served by one more call', async () => {
    const { status, body, text } = await app.call('GET', `${path}/${databaseId}/tables`, { key: tenant.developer })
    assert.equal(status, 200, text)
    assert.deepEqual(
      body.map((table: Record<string, unknown>) => [table.source, table.kind, table.geometryType, table.srid]),
      [
        ['land.parcels', 'table', 'MultiPolygon', 3067],
        ['days', 'partitioned table', null, null],
        ['places', 'view', 'Geometry', 4326],
      ],
    )
    const reply = await app.call('POST', `${path}/${databaseId}/publish`, { key: tenant.developer, body: {} })
    const { published, skipped }: Published = reply.body
    assert.deepEqual(skipped, [])
    assert.deepEqual(
      published.map((one) => one.name),
      ['land.parcels', 'days', 'places'],
    )
    const places = published.find((one) => one.name === 'places')
    const rows = await app.call('GET', `/api/v1/datasets/${places?.datasetId}/query`, { key: tenant.public })
    assert.equal(rows.body.length, 1, rows.text)
    const tile = await app.call('GET', `/tiles/${places?.datasetId}/0/0/0.mvt`, { key: tenant.public })
    assert.equal(tile.status, 200, tile.text)
  })
})

test('a hostile server that answers the question for its tables with nonsense is 502, or left out', async () => {
  const tenant = await newTenant()
  const cell = (text: string) => {
    const length = Buffer.alloc(4)
    length.writeInt32BE(text.length)
    return Buffer.concat([length, Buffer.from(text)])
  }
  const names = ['nspname', 'relname', 'relkind', 'rows', 'attname', 'type', 'comment']
  const columns = names.map((name) => Buffer.concat([Buffer.from(`${name}\0`), Buffer.alloc(6), textType]))
  const description = message('T', Buffer.concat([count(names.length), ...columns]))
  const row = (...cells: string[]) => message('D', Buffer.concat([count(cells.length), ...cells.map(cell)]))
  const rogue = await startRogue((socket) => ({ code, body }) => {
    if (code === '') return socket.write(loggedIn)
    const text = body.toString()
    if (code !== 'Q' && !text.includes('pg_catalog.pg_class')) return socket.write(complete())
    socket.write(Buffer.concat([description, row('a', 'b', '?', 'NaN', 'c', 'd', 'e'), complete('SELECT 1')]))
  })
  try {
    const parts = { host: '127.0.0.1', port: rogue.port, user: 'u', password: 'p', db: 'd' }
    const made = await app.call('POST', path, {
      key: tenant.developer,
      body: { type: 'postgres', name: 'rogue', ...parts },
    })
    assert.equal(made.status, 201, made.text)
    for (const [method, action] of [
      ['GET', 'tables'],
      ['POST', 'publish'],
    ] as const) {
      const body = method === 'POST' ? { body: {} } : {}
      const reply = await app.call(method, `${path}/${made.body.id}/${action}`, { key: tenant.developer, ...body })
      assert.ok([200, 502].includes(reply.status), reply.text)
      if (reply.status === 200) assert.deepEqual(method === 'GET' ? reply.body : reply.body.published, [])
    }
  } finally {
    await rogue.close()
  }
})

const count = (value: number): Buffer => {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}
/** The oid of text, its size, modifier and format. */
const textType = Buffer.from([0, 0, 0, 25, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0])

describe('a connection string', () => {
  const secret = 'pä ss/w?rd@1'
  const string = `postgres://reader:${encodeURIComponent(secret)}@warehouse.example.org:6543/ware%20house?sslmode=require`
  const shown = { host: 'warehouse.example.org', port: 6543, user: 'reader', db: 'ware house', passwordSet: true }
  let tenant: Tenant
  before(async () => {
    tenant = await newTenant()
  })
  const call: TestApp['call'] = (method, url, request = {}) =>
    app.call(method, url, { key: tenant.developer, ...request })

  test('stands for its parts when a record is made, replaced and patched, and is never shown', async () => {
    const created = await call('POST', path, { body: { type: 'postgres', name: 'A', connectionString: string } })
    assert.equal(created.status, 201, created.text)
    const url = `${path}/${created.body.id}`
    const replies = [
      created,
      await call('PATCH', url, { body: { connectionString: string } }),
      await call('PUT', url, { body: { name: 'B', connectionString: string } }),
      await call('GET', url),
    ]
    for (const { status, body, text } of replies) {
      assert.ok(status < 300, text)
      assert.deepEqual({ ...body, ...shown }, body)
      assert.equal(body.metadata.ssl, 'require')
      assert.ok(!('connectionString' in body) && !text.includes('w?rd') && !text.includes('w%3Frd'))
    }
    const [row] = await app.db.query<{ text: string }>(
      sql`SELECT d::text AS text FROM svc.databases d WHERE id = ${created.body.id}::uuid`,
    )
    assert.ok(row && !row.text.includes('w?rd') && !row.text.includes('w%3Frd'), 'nor stored in plain text')
  })

  test('that is no such string, or says what may not be said, is refused without repeating it', async () => {
    for (const wrong of [
      'mysql://reader:hunter2@a.example.org/x',
      'host=a.example.org password=hunter2',
      'postgres://reader:hunter2@a.example.org',
      'postgres://a.example.org/x',
      'postgres://reader:hunter2@/x',
      'postgres://reader:hunter2@%2Fvar%2Frun/x',
      'postgres://reader:hunter2@a.example.org,b.example.org/x',
      'postgres://reader:hunter2@a.example.org/x?host=/tmp',
      'postgres://reader:hunter2@a.example.org/x?sslrootcert=/etc/passwd',
      'postgres://reader:hunter2@a.example.org/x?sslmode=prefer',
      'postgres://reader:hunter2@a.example.org:0/x',
      'postgres://reader:hunter2%@a.example.org/x',
    ]) {
      const reply = await call('POST', path, { body: { type: 'postgres', name: 'A', connectionString: wrong } })
      assert.equal(reply.status, 400, `${wrong} ${reply.text}`)
      assert.ok(!reply.text.includes('hunter2'), reply.text)
    }
    for (const twice of [{ host: 'a.example.org' }, { password: 'x' }, { db: 'x' }]) {
      const body = { type: 'postgres', name: 'A', connectionString: string, ...twice }
      const reply = await call('POST', path, { body })
      assert.equal(reply.status, 400)
      assert.match(reply.text, /connectionString/)
    }
    const internal = { type: 'internal', name: 'A', connectionString: string }
    assert.equal((await call('POST', path, { body: internal })).status, 400)
  })
})
