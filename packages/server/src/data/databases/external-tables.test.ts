import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { type ExternalServer, startExternalServer } from '../../../testing/peers/external-server.ts'
import { sql } from '../../kernel/db/sql.ts'
import { createColumnRefresh } from '../datasets/column-refresh.ts'
import { findDataset } from '../datasets/find-dataset.ts'

// One database is enough: the tables are in an external PostgreSQL.

const skip = (process.env.TEST_EXTERNAL_URL ?? process.env.TEST_DATABASE_URL) ? false : 'without a PostgreSQL server'

let server: ExternalServer | undefined
let app: TestApp
let tenant: Tenant
let databaseId: string

before(async () => {
  server = await startExternalServer()
  if (!server) return
  await server.admin.script(`
    CREATE MATERIALIZED VIEW unfilled AS SELECT 1 AS id, ST_Point(8, 47, 4326) AS geom WITH NO DATA;
    CREATE EXTENSION postgres_fdw;
    CREATE SERVER gone FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '1', dbname 'x');
    CREATE FOREIGN TABLE unreachable (id int4, geom geometry(Point, 4326)) SERVER gone;
    CREATE USER MAPPING FOR PUBLIC SERVER gone OPTIONS (user 'u', password 'topsecret');
    CREATE SERVER locked FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '1', dbname 'x');
    CREATE FOREIGN TABLE keyless (id int4, geom geometry(Point, 4326)) SERVER locked;
    CREATE USER MAPPING FOR PUBLIC SERVER locked OPTIONS (user 'u');
    CREATE TABLE hidden (id int4 PRIMARY KEY, geom geometry(Point, 4326)); CREATE TABLE "Hidden, too" (id int);
    CREATE TABLE partly (id int4, part int4, name text, secret text, geom geometry(Point, 4326), PRIMARY KEY (id));
    INSERT INTO partly VALUES (1, 1, 'a', 'hush', ST_Point(8, 47, 4326));
    CREATE TABLE halfkey (id int4, part int4, name text, PRIMARY KEY (id, part));
    INSERT INTO halfkey VALUES (1, 1, 'a'), (1, 2, 'b');
    GRANT SELECT (id, name, geom), UPDATE (name, part), INSERT (id, part, name) ON partly TO graticule;
    GRANT SELECT (id, name) ON halfkey TO graticule;
    GRANT SELECT ON unfilled, unreachable, keyless TO graticule;
    CREATE TABLE changing (id int4 PRIMARY KEY, name text, geom geometry(Point, 4326));
    INSERT INTO changing VALUES (1, 'a', ST_Point(8, 47, 4326));
    GRANT SELECT ON changing TO graticule;
    CREATE TABLE guarded (id int4 PRIMARY KEY); ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
    CREATE POLICY small ON guarded USING (true) WITH CHECK (id < 10); GRANT SELECT, INSERT, UPDATE ON guarded TO graticule;`)
  app = await testApp()
  tenant = await app.tenant('external')
  databaseId = await server.register(app, tenant.developer)
})
after(async () => {
  await app?.close()
  await server?.close()
})

const call: TestApp['call'] = (method, url, request = {}) =>
  app.call(method, url, { key: tenant.developer, ...request })
const make = (body: object) =>
  call('POST', '/api/v1/datasets', { body: { type: 'table', name: 'external', databaseId, ...body } })
async function create(source: string): Promise<string> {
  const { status, text, body } = await make({ source })
  assert.equal(status, 201, text)
  return body.id
}
const read = (id: string, query = '') => call('GET', `/api/v1/datasets/${id}/query?${query}`)
const tile = async (id: string, place = '0/0/0', query = '') => {
  const reply = await app.http.inject({
    url: `/tiles/${id}/${place}.mvt${query}`,
    headers: { 'x-api-key': tenant.developer },
  })
  return { status: reply.statusCode, text: reply.body }
}

describe('the reason why a table cannot be read arrives', { skip }, () => {
  for (const [source, status, reason] of [
    ['unfilled', 502, /materialized view "unfilled" has not been populated. Use the REFRESH MATERIALIZED VIEW command/],
    ['keyless', 502, /password is required|could not connect to server "locked"/],
    ['unreachable', 502, /could not connect to server "gone"/],
  ] as const) {
    test(`of ${source}, whose dataset can be made`, async () => {
      const id = await create(source)
      for (const reply of [await read(id), await call('GET', `/ogc/collections/${id}/items`), await tile(id)]) {
        assert.equal(reply.status, status, reply.text)
        assert.match(JSON.parse(reply.text).detail, reason)
        assert.doesNotMatch(reply.text, /topsecret|127\.0\.0\.1/)
      }
      const statement = await make({ type: 'sql', source: `SELECT * FROM ${source}` })
      if (source === 'unfilled') assert.match(statement.body.detail ?? '', reason, statement.text)
    })
  }

  test('of a table without rights, with what would grant them', async () => {
    const { status, body, text } = await make({ source: 'hidden' })
    assert.equal(status, 400, text)
    assert.match(
      body.detail,
      /user "graticule" of this database may not read the table. Run: GRANT SELECT ON public\.hidden TO graticule/,
    )
    const named = await make({ source: 'Hidden, too' })
    assert.match(named.body.detail, /Run: GRANT SELECT ON public\."Hidden, too" TO graticule/)
    const unknown = await make({ source: 'hiden' })
    assert.match(unknown.body.detail, /there is no table "hiden"/)
    const query = await make({ type: 'sql', source: 'SELECT * FROM hidden' })
    assert.match(query.body.detail, /permission denied for table hidden/, query.text)
  })

  test('of a row that may not be written', async () => {
    const editable = { metadata: { editable: true } }
    for (const [source, method, path, body, reason] of [
      [
        'partly',
        'PATCH',
        '/1',
        { geom: null },
        /may not write this\. The database says: permission denied for table partly/,
      ],
      ['guarded', 'POST', '', [{ id: 20 }], /new row violates row-level security policy for table "guarded"/],
    ] as const) {
      const { body: made, text } = await make({ source, ...editable })
      assert.ok(made.id, text)
      const reply = await call(method, `/api/v1/datasets/${made.id}/rows${path}`, { body })
      assert.equal(reply.status, 409, reply.text)
      assert.match(reply.body.detail, reason)
    }
  })

  test('of a right that was taken away later', async () => {
    await server?.admin.script(
      'CREATE TABLE shown (id int4 PRIMARY KEY, geom geometry(Point, 4326)); GRANT SELECT ON shown TO graticule',
    )
    const id = await create('shown')
    assert.equal((await read(id)).status, 200)
    await server?.admin.script('REVOKE SELECT ON shown FROM graticule')
    for (const reply of [await read(id), await tile(id)]) {
      assert.equal(reply.status, 400, reply.text)
      assert.match(reply.text, /permission denied for table shown/)
    }
  })
})

describe('a table with rights on some columns', { skip }, () => {
  test('is listed and read with these columns', async () => {
    const { body } = await call('GET', `/api/v1/databases/${databaseId}/tables`)
    const listed = body.find(({ name }: { name: string }) => name === 'partly')
    assert.equal(listed?.geometryColumn, 'geom')
    const id = await create('partly')
    const dataset = await call('GET', `/api/v1/datasets/${id}`)
    const columns = dataset.body.attributes.map(({ name, primaryKey }: { name: string; primaryKey: boolean }) => [
      name,
      primaryKey,
    ])
    assert.deepEqual(columns, [
      ['id', true],
      ['name', false],
      ['geom', false],
    ])
    assert.deepEqual((await read(id, 'attributes=id,name')).body, [{ id: 1, name: 'a' }])
    assert.equal((await read(id, 'format=geojson&limit=1')).status, 200)
    assert.equal((await tile(id)).status, 200)
  })

  test('is written where its user may write these', async () => {
    const { body: made, text } = await make({ source: 'partly', metadata: { editable: true } })
    assert.ok(made.id, text)
    const rows = `/api/v1/datasets/${made.id}/rows`
    const row = await call('GET', `${rows}/1`)
    assert.deepEqual([row.status, row.body.name], [200, 'a'], row.text)
    const headers = { 'if-match': String(row.headers.etag) }
    const changed = await call('PATCH', `${rows}/1`, { body: { name: 'b' }, headers })
    assert.deepEqual([changed.status, changed.body.name], [200, 'b'], changed.text)
    const late = await call('PATCH', `${rows}/1`, { body: { name: 'c' }, headers })
    assert.equal(late.status, 412, late.text)
    const feature = await call('GET', `/ogc/collections/${made.id}/items/1`)
    assert.equal(feature.headers.etag, changed.headers.etag, feature.text)
    const some = await call('PATCH', `${rows}?filter[id]=1&expect=1`, { body: { name: 'a' } })
    assert.deepEqual(some.body, { count: 1 }, some.text)
    const added = await call('POST', rows, { body: [{ id: 2, part: 1, name: 'new' }] })
    assert.deepEqual(added.body, { count: 1, keys: [2] }, added.text)
    const closed = await call('PATCH', `${rows}/1`, { body: { secret: 'seen' } })
    assert.equal(closed.status, 409, closed.text)
  })

  test('has no key if a part of it cannot be read', async () => {
    const id = await create('halfkey')
    const { body } = await call('GET', `/api/v1/datasets/${id}`)
    assert.ok(body.attributes.every(({ primaryKey }: { primaryKey: boolean }) => !primaryKey))
    assert.equal((await read(id)).body.length, 2)
  })
})

describe('a changed table', { skip }, () => {
  const namesOf = async (id: string): Promise<string[]> =>
    (await call('GET', `/api/v1/datasets/${id}`)).body.attributes.map(({ name }: { name: string }) => name)

  test('is read anew on request', async () => {
    const id = await create('changing')
    await read(id)
    await server?.admin.script('ALTER TABLE changing ADD COLUMN height int4 DEFAULT 3')
    const { status, body, text } = await call('POST', `/api/v1/datasets/${id}/refresh`)
    assert.deepEqual([status, body.attributes?.length], [200, 4], text)
    assert.equal((await read(id)).body[0].height, 3)
    const stranger = await app.key(tenant.id, { datasets: { read: '*', execute: '*' } })
    assert.equal((await call('POST', `/api/v1/datasets/${id}/refresh`, { key: stranger })).status, 401)
  })

  test('whose geometries were moved to another system is refused until it is noticed, and never drawn in the wrong place', async () => {
    await server?.admin.script(`
      CREATE TABLE moved (id int4 PRIMARY KEY, geom geometry(Point, 4326));
      INSERT INTO moved SELECT i, ST_Point(8 + i / 1e5, 47, 4326) FROM generate_series(1, 2000) AS i;
      CREATE INDEX ON moved USING gist (geom); ANALYZE moved; GRANT SELECT ON moved TO graticule;`)
    const id = await create('moved')
    const asked = [
      () => read(id, 'limit=1'),
      () => read(id, 'format=geojson&limit=1'),
      () => read(id, 'filter[geom][$bbox]=7,46,9,48&attributes=id&limit=1'),
      () => call('GET', `/ogc/collections/${id}/items?limit=1&bbox=7,46,9,48`),
      () => call('GET', `/api/v1/datasets/${id}/attributes/id/statistics`),
      () => tile(id),
      () => tile(id, '8/133/90', '?filter[id][$lt]=1500'),
      () => tile(id, '3/4/2', '?aggregate=h3:auto'),
    ]
    const before: string[] = []
    for (const ask of asked) {
      const { status, text } = await ask()
      assert.equal(status, 200, text)
      before.push(text)
    }
    await server?.admin.script(
      'ALTER TABLE moved ALTER COLUMN geom TYPE geometry(Point, 3857) USING ST_Transform(geom, 3857)',
    )
    for (const [place, ask] of asked.entries()) {
      const { status, text } = await ask()
      // A tile may be cached for a moment.
      if (status === 200 && text === before[place]) continue
      assert.equal(status, 400, `${place}: ${text.slice(0, 500)}`)
      assert.match(text, /The table is no longer what its dataset says.*geometry\(Point,4326\)/)
    }
    assert.equal((await call('POST', `/api/v1/datasets/${id}/refresh`)).status, 200)
    for (const ask of asked) {
      const { status, text } = await ask()
      assert.equal(status, 200, text)
    }
    const [row] = (await read(id, 'limit=1')).body
    assert.deepEqual(row.geom.coordinates.map(Math.round), [8, 47])
  })

  test('is noticed within ten seconds of use', async () => {
    const id = await create('changing')
    let now = 0
    let looks = 0
    const { sources } = app.services
    const dataset = await findDataset(app.db, tenant.id, id)
    assert.ok(dataset)
    const current = createColumnRefresh({
      db: app.db,
      now: () => now,
      inspect: (draft) => sources.inspect(draft),
      columns: async () => {
        looks++
        const rows = await server?.db.query<{ name: string; dbType: string }>(sql`
          SELECT attname::text AS name, format_type(atttypid, atttypmod) AS "dbType" FROM pg_attribute
          WHERE attrelid = 'changing'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`)
        return rows?.map(({ name, dbType }) => ({ name, dbType }))
      },
    })
    assert.equal((await current(dataset)).attributes.length, 4)
    await server?.admin.script('ALTER TABLE changing DROP COLUMN height, ADD COLUMN width text')
    assert.equal(await current(dataset), dataset)
    now = 10_001
    const refreshed = await current(dataset)
    assert.deepEqual(
      refreshed.attributes.map(({ name }) => name),
      ['id', 'name', 'geom', 'width'],
    )
    assert.notEqual(refreshed.revision, dataset.revision)
    assert.equal(looks, 2)
    assert.deepEqual(await namesOf(id), ['id', 'name', 'geom', 'width'])
  })
})
