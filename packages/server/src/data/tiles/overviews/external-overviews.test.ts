import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { type ExternalServer, startExternalServer } from '../../../../testing/peers/external-server.ts'
import { later } from '../../../../testing/processes/clock.ts'
import { featuresOf } from '../../../../testing/tiles.ts'
import { stays, until } from '../../../../testing/until.ts'
import { sql } from '../../../kernel/db/sql.ts'

const hasCluster = (process.env.TEST_EXTERNAL_URL ?? process.env.TEST_DATABASE_URL) !== undefined

describe('overviews of tables on other servers', { skip: hasCluster ? false : 'needs a PostgreSQL server' }, () => {
  let server: ExternalServer
  let app: TestApp
  let tenant: Tenant
  let databaseId: string
  before(async () => {
    server = (await startExternalServer()) as ExternalServer
    app = await testApp({
      OVERVIEW_MIN_ROWS: '5000',
      TILE_MAX_BYTES: '5000000',
      TILE_MAX_FEATURES: '2000',
      OVERVIEW_REBUILD_SECONDS: '1',
    })
    tenant = await app.tenant('foreign overviews')
    databaseId = await server.register(app, tenant.developer)
  })
  after(async () => {
    await app?.close()
    await server?.close()
  })

  /** 12 000 points in the north east, on a few hundred places, which is a crowd; and 100 alone elsewhere. */
  async function makePoints(name: string, { key = 'id int8 PRIMARY KEY', srid = 4326 } = {}): Promise<void> {
    await server.db.script(`
      CREATE TYPE mood_${name} AS ENUM ('good', 'bad');
      CREATE TABLE ${name} (${key}, n int4, share real, mood mood_${name}, label text, at timestamptz, photo bytea,
        geom geometry(Point, ${srid}));
      INSERT INTO ${name} (id, n, share, mood, label, at, photo, geom) SELECT i, i, i / 8.0, CASE WHEN i % 2 = 0 THEN 'good' END::mood_${name}, E'a\\tb\\\\' || i, '2026-01-31T10:00:00Z', 'x',
          ST_Transform(ST_Point(10 + i % 20, 20 + i % 19, 4326), ${srid}) FROM generate_series(1, 12000) AS i;
      INSERT INTO ${name} (id, n, share, mood, label, at, photo, geom) SELECT i, i, NULL, NULL, NULL, NULL, NULL, ST_Transform(ST_Point(-100 + i % 10, -40 + i % 7, 4326), ${srid})
        FROM generate_series(12001, 12100) AS i;
      INSERT INTO ${name} (id) VALUES (99999);
      CREATE INDEX ON ${name} USING gist (geom);
      ANALYZE ${name}`)
  }

  const wanted = { tiles: { overviews: true } }

  async function makeDataset(source: string, rest: object = {}): Promise<string> {
    const body = { type: 'table', name: source, source, databaseId, metadata: wanted, ...rest }
    const reply = await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })
    assert.equal(reply.status, 201, reply.text)
    return reply.body.id
  }

  async function tile(id: string, path = '0/0/0.mvt', key = tenant.developer) {
    const reply = await app.http.inject({ url: `/tiles/${id}/${path}`, headers: { 'x-api-key': key } })
    const isTile = reply.statusCode === 200
    const features = isTile ? featuresOf(reply.rawPayload) : []
    return { status: reply.statusCode, text: reply.body, counted: String(reply.headers['x-tile-features']), features }
  }

  type Status = { status: string; progress: number } | null
  const statusOf = async (id: string): Promise<Status> =>
    (await app.call('GET', `/api/v1/datasets/${id}`, { key: tenant.developer })).body.overviews

  const errorOf = async (id: string): Promise<string> => {
    const [row] = await app.db.query<{ error: string }>(
      sql`SELECT error FROM svc.overviews WHERE dataset_id = ${id}::uuid`,
    )
    return row?.error ?? ''
  }

  const tablesOf = async (id: string): Promise<string[]> =>
    (
      await app.db.query<{ name: string }>(sql`
        SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND starts_with(relname, ${`svc_ov_${id.replaceAll('-', '')}_`})
        ORDER BY relname`)
    ).map(({ name }) => name.slice(40))

  /** Asks for tiles until the overview has this state. */
  async function reached(id: string, status: string): Promise<void> {
    await until(async () => {
      await tile(id)
      const now = await statusOf(id)
      if (now?.status === 'failed' && status !== 'failed') throw new Error(await errorOf(id))
      return now?.status === status
    })
    // Tile sources are believed for a second.
    later(1_000)
  }

  test('change the ETag of their dataset, but stand in the way of no write', async () => {
    await makePoints('tagged')
    const id = await makeDataset('tagged')
    const path = `/api/v1/datasets/${id}`
    const get = (headers: Record<string, string> = {}) => app.call('GET', path, { key: tenant.developer, headers })
    const before = String((await get()).headers.etag)
    assert.equal((await get({ 'if-none-match': before })).status, 304)
    await reached(id, 'built')
    const after = await get({ 'if-none-match': before })
    assert.deepEqual([after.status, after.body.overviews.status], [200, 'built'])
    assert.equal((await get({ 'if-none-match': String(after.headers.etag) })).status, 304)
    const patch = (headers: Record<string, string>) =>
      app.call('PATCH', path, { key: tenant.developer, body: { name: 'renamed' }, headers })
    assert.equal((await patch({ 'if-match': before })).status, 200, 'the record itself is as it was')
    assert.equal((await patch({ 'if-match': String(after.headers.etag) })).status, 412)
    assert.equal((await patch({ 'if-match': String((await get()).headers.etag) })).status, 200)
  })

  test('are built on request only, and crowded tiles are then made without their server', async () => {
    await makePoints('places')
    const plain = await makeDataset('places', { metadata: {} })
    const id = await makeDataset('places')
    assert.equal(await statusOf(id), null)
    assert.match((await tile(id)).counted, /^\d+\/~?12100$/)
    await reached(id, 'built')
    assert.deepEqual(await statusOf(id), { status: 'built', progress: 1 })
    // The extent of a dataset without a tile source is looked up where its table is.
    const map = { minZoom: 0, maxZoom: 14, extentLngLat: [-180, -85, 180, 85] }
    const made = await app.call('POST', '/api/v1/tilesources', {
      key: tenant.developer,
      body: { type: 'dataset', source: id, ...map },
    })
    const asked = server.asked('"places" AS q')
    for (const path of ['0/0/0.mvt', '1/1/0.mvt', '0/0/0.mvt?attributes=id,n', '2/2/1.mvt']) {
      const { counted } = await tile(made.body.id, path)
      const [shown = 0, total] = counted.split('/').map(Number)
      assert.ok(shown <= 2000 && Number(total) >= 12_000, `${path}: ${counted}`)
    }
    assert.equal(server.asked('"places" AS q'), asked, 'no row of the table is read')
    // A tile that is not crowded, one with a filter, and one with a column that is not copied show the rows themselves.
    assert.match((await tile(id, '1/0/1.mvt')).counted, /^\d+\/100$/)
    assert.equal((await tile(id, '0/0/0.mvt?filter[n][$lte]=1000')).counted, '1000/1000')
    assert.match((await tile(id, '0/0/0.mvt?attributes=photo')).counted, /\/~?12100$/)
    assert.ok(server.asked('"places" AS q') > asked)
    assert.match((await tile(plain)).counted, /^\d+\/~?12100$/)
    assert.equal(await statusOf(plain), null)
    // With the values and types that the table's own tiles have.
    const rows = new Map((await tile(plain)).features.map(({ properties }) => [properties.n, properties]))
    const thinned = await tile(id)
    const both = thinned.features.filter(({ properties }) => rows.has(properties.n))
    assert.ok(both.length > 10, String(both.length))
    for (const { properties } of both) {
      assert.deepEqual({ ...properties, svc_count: 0 }, { ...rows.get(properties.n), svc_count: 0 })
    }
    assert.ok(thinned.features.every(({ properties, id: own }) => properties.n === own))
    const explained = await app.call('GET', `/tiles/${id}/0/0/0.mvt?explain=true`, { key: tenant.developer })
    assert.match(explained.body.sql, /svc_ov_/)
    assert.doesNotMatch((await tablesOf(id)).join(), /job/, 'nothing of the copy is left')
  })

  test('follow a change of the table, and until then show what was', async () => {
    await makePoints('changing')
    const id = await makeDataset('changing')
    await reached(id, 'built')
    assert.match((await tile(id)).counted, /\/12100$/)
    // As if the build had been quick, whatever else the machine does: a slow one is not repeated soon.
    await app.db.query(sql`UPDATE svc.overviews SET tried_at = built_at WHERE dataset_id = ${id}::uuid`)
    await server.db.script(`INSERT INTO changing (id, geom) VALUES (20000, ST_Point(-50, -50, 4326))`)
    await until(async () => /\/12101$/.test((await tile(id)).counted))
    assert.deepEqual(await statusOf(id), { status: 'built', progress: 1 })
  })

  test('are not used when the table is gone, replaced or closed, nor when its server is down', async (t) => {
    t.after(() => server.down(false))
    await makePoints('fleeting')
    const id = await makeDataset('fleeting')
    await reached(id, 'built')
    const { status: before } = await tile(id)
    assert.equal(before, 200)
    server.down(true)
    later(2_500)
    assert.match(String((await tile(id, '0/0/0.mvt?attributes=id')).status), /^50[23]$/)
    server.down(false)
    await until(async () => (await tile(id, '0/0/0.mvt?attributes=n')).status === 200)
    await server.db.script(`ALTER TABLE fleeting DROP label`)
    later(2_500)
    // As where the table is drawn: an error, or what the table has now, if its columns were looked at since (column-refresh.ts).
    const { status, features } = await tile(id, '1/1/0.mvt')
    assert.ok(status === 400 || (status === 200 && features.length > 0), String(status))
    assert.ok(features.every(({ properties }) => !('label' in properties)))
    await server.db.script('DROP TABLE fleeting')
    later(2_500)
    assert.equal((await tile(id, '0/0/0.mvt?attributes=share')).status, 400)
  })

  const removals: Record<string, (id: string) => Promise<{ status: number; text: string }>> = {
    'the setting is switched off': (id) =>
      app.call('PUT', `/api/v1/datasets/${id}/metadata/tiles`, { key: tenant.developer, body: { overviews: false } }),
    'the metadata are replaced': (id) =>
      app.call('PATCH', `/api/v1/datasets/${id}`, { key: tenant.developer, body: { metadata: { tiles: null } } }),
    'the dataset names another table': (id) =>
      app.call('PATCH', `/api/v1/datasets/${id}`, { key: tenant.developer, body: { source: 'other_place' } }),
    'the dataset is deleted': (id) => app.call('DELETE', `/api/v1/datasets/${id}`, { key: tenant.developer }),
    'the database leads elsewhere': async () => {
      const path = `/api/v1/databases/${databaseId}`
      const { body } = await app.call('GET', path, { key: tenant.developer })
      const change = (host: string) => app.call('PATCH', path, { key: tenant.developer, body: { host, password: 'x' } })
      const reply = await change('localhost')
      await change(body.host)
      return reply
    },
  }
  for (const [when, remove] of Object.entries(removals)) {
    test(`go when ${when}`, async () => {
      await server.db.script('DROP TABLE IF EXISTS leaving, other_place; DROP TYPE IF EXISTS mood_leaving')
      await makePoints('leaving')
      await server.db.script('CREATE TABLE other_place (LIKE leaving INCLUDING ALL)')
      const id = await makeDataset('leaving')
      await reached(id, 'built')
      assert.notDeepEqual(await tablesOf(id), [])
      const { status, text } = await remove(id)
      assert.ok(status < 300, text)
      assert.deepEqual(await tablesOf(id), [])
      assert.equal((await statusOf(id)) ?? null, null)
    })
  }

  test('go with their application', async () => {
    await makePoints('lodging')
    const guest = await app.tenant('guest')
    const place = await server.register(app, guest.developer)
    const body = { type: 'table', name: 'a', source: 'lodging', databaseId: place, metadata: wanted }
    const { body: made } = await app.call('POST', '/api/v1/datasets', { key: guest.developer, body })
    await until(async () => {
      await tile(made.id, '0/0/0.mvt', guest.developer)
      return (await tablesOf(made.id)).includes('0')
    })
    assert.equal((await tile(made.id)).status, 404, 'nobody else sees it')
    const reply = await app.call('DELETE', `/api/v1/applications/${guest.id}`)
    assert.ok(reply.status < 300, reply.text)
    assert.deepEqual(await tablesOf(made.id), [])
  })

  test('can be read through their dataset only', async () => {
    await makePoints('secret')
    const id = await makeDataset('secret')
    await reached(id, 'built')
    const name = `svc_ov_${id.replaceAll('-', '')}_0`
    const own = { type: 'table', name: 'a', source: name }
    const asSql = { type: 'sql', name: 'a', source: `SELECT * FROM ${name}` }
    for (const body of [own, asSql]) {
      const reply = await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })
      assert.equal(reply.status, 400, reply.text)
      assert.match(reply.text, /there is no table/)
    }
  })

  for (const [kind, how] of Object.entries<{ key?: string; srid?: number }>({
    'a table without a key': { key: 'id int8' },
    'a table with a key of two columns': { key: 'id int8, second int4 DEFAULT 0, PRIMARY KEY (id, second)' },
    'a table whose key is a text': { key: 'id text PRIMARY KEY' },
    'a table in another reference system': { srid: 25833 },
    'a table in web mercator': { srid: 3857 },
  })) {
    test(`${kind} has one`, async () => {
      await server.db.script('DROP TABLE IF EXISTS odd; DROP TYPE IF EXISTS mood_odd')
      await makePoints('odd', how)
      const id = await makeDataset('odd')
      await reached(id, 'built')
      const { counted, features } = await tile(id)
      assert.match(counted, /^\d{2,4}\/~?12100$/)
      assert.ok(features.length > 50)
    })
  }

  test('areas keep the largest, and those of a geography column are where they were', async () => {
    await server.db.script(`
      CREATE TABLE areas (id int4 PRIMARY KEY, geom geography);
      INSERT INTO areas SELECT i, ST_Buffer(ST_Point(10 + i % 40 + i / 1e6, 20 + i % 37, 4326), 0.01, 'quad_segs=2')::geography
        FROM generate_series(1, 12000) AS i;
      INSERT INTO areas VALUES (0, ST_MakeEnvelope(-60, -60, 60, 60, 4326)::geography);
      CREATE INDEX ON areas USING gist (geom);
      ANALYZE areas`)
    const id = await makeDataset('areas')
    await reached(id, 'built')
    const { features, counted } = await tile(id)
    const large = features.find(({ properties }) => properties.id === 0)
    assert.ok(large && features.length < 3_000, counted)
    const [west, , east] = large.toGeoJSON(0, 0, 0).bbox ?? large.bbox()
    assert.ok(Math.abs(Number(east) - Number(west)) > 1)
  })

  test('views, queries and tables with row security have none, and are drawn as ever', async () => {
    await makePoints('guarded')
    await server.db.script(`CREATE VIEW seen AS SELECT * FROM guarded; ALTER TABLE guarded ENABLE ROW LEVEL SECURITY`)
    const ids = [
      await makeDataset('seen'),
      await makeDataset('guarded'),
      await makeDataset('SELECT * FROM guarded', { type: 'sql', name: 'a' }),
    ]
    for (const id of ids) assert.match((await tile(id)).counted, /^2000\/~?\d+$/)
    const isDrawn = async (id: string) =>
      /^2000\/~?\d+$/.test((await tile(id)).counted) && (await statusOf(id)) === null
    await stays(async () => (await Promise.all(ids.map(isDrawn))).every(Boolean), 1_500)
  })

  test('a setting that is neither true nor false is refused', async () => {
    const body = { type: 'table', name: 'a', source: 'places', databaseId, metadata: { tiles: { overviews: 'yes' } } }
    const reply = await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })
    assert.equal(reply.status, 400)
    assert.match(reply.text, /body\/metadata\/tiles\/overviews/)
  })

  test('a server that ends in the middle leaves nothing behind, and the overview is built when it is back', async (t) => {
    t.after(() => server.fail(undefined))
    await makePoints('broken')
    const id = await makeDataset('broken')
    server.fail({ after: 300_000, what: 'end' })
    await reached(id, 'failed')
    assert.deepEqual(await tablesOf(id), [])
    server.fail(undefined)
    await until(async () => {
      await tile(id)
      return (await statusOf(id))?.status === 'built'
    })
  })

  test('a job whose server falls silent ends when the setting is switched off, and leaves nothing behind', async (t) => {
    t.after(() => server.fail(undefined))
    await makePoints('silent')
    const id = await makeDataset('silent')
    server.fail({ after: 300_000, what: 'silence' })
    await app.services.tiles.context.data.overview((await app.services.tiles.context.data.find(tenant.id, id)) as never)
    await until(async () => (await tablesOf(id)).includes('job_base'))
    const body = { metadata: { tiles: null } }
    const reply = await app.call('PATCH', `/api/v1/datasets/${id}`, { key: tenant.developer, body })
    server.fail(undefined)
    assert.ok(reply.status < 300, reply.text)
    assert.equal(await statusOf(id), null)
    await until(async () => (await tablesOf(id)).length === 0)
  })

  test('a row that is too long fails the overview and nothing else', async () => {
    await makePoints('bulky')
    await server.db.script(`UPDATE bulky SET label = repeat('x', 40000000) WHERE id = 7`)
    const id = await makeDataset('bulky')
    await reached(id, 'failed')
    assert.match(await errorOf(id), /the limit is 33554432/)
    assert.deepEqual(await tablesOf(id), [])
  })

  test('a copy that is more than the application may store fails the overview', async (t) => {
    await makePoints('many')
    const small = await testApp({ OVERVIEW_MIN_ROWS: '5000', STORAGE_PER_APPLICATION: '1000000' })
    t.after(() => small.close())
    const poor = await small.tenant('poor')
    const body = { type: 'table', name: 'a', source: 'many', metadata: wanted }
    const { body: made } = await small.call('POST', '/api/v1/datasets', {
      key: poor.developer,
      body: { ...body, databaseId: await server.register(small, poor.developer) },
    })
    await until(async () => {
      await small.call('GET', `/tiles/${made.id}/0/0/0.mvt`, { key: poor.developer })
      const { body: now } = await small.call('GET', `/api/v1/datasets/${made.id}`, { key: poor.developer })
      return now.overviews?.status === 'failed'
    })
    const [row] = await small.db.query<{ error: string }>(sql`SELECT error FROM svc.overviews`)
    assert.match(row?.error ?? '', /more than the \d+ bytes/)
  })
})
