import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { type TileApp, tileApp, valuesOf } from '../../../testing/tiles.ts'
import { until } from '../../../testing/until.ts'
import type { App } from '../../boot/app.ts'
import { sql } from '../../kernel/db/sql.ts'

const skip = process.env.TEST_DATABASE_URL === undefined ? 'embedded there is one session' : false

let maps: TileApp
let other: App
before(async () => {
  maps = await tileApp()
  other = await maps.app.replica()
})
after(async () => {
  await maps.close()
})

const script = (text: string) => maps.script(text)

let tables = 0
/** A table with one row, and a map of it. */
async function table(extra = '') {
  const name = `t${tables++}`
  await script(`
    CREATE TABLE ${name} (id int PRIMARY KEY, geom geometry(Point, 4326));
    INSERT INTO ${name} VALUES (1, ST_Point(6, 50, 4326)); ${extra.replaceAll('$', name)}`)
  return name
}
const source = async (dataset: string) => maps.tileSource({ source: dataset, extentLngLat: [-180, -85, 180, 85] })

/** The ids in the tile of the world, on each server. */
async function seen(id: string): Promise<unknown[][]> {
  const headers = { 'x-api-key': maps.tenant.developer }
  const replies = await Promise.all(
    [maps.app.http, other.http].map((http) => http.inject({ url: `/tiles/${id}/0/0/0.mvt`, headers })),
  )
  for (const reply of replies) assert.ok([200, 204].includes(reply.statusCode), reply.body)
  return replies.map((reply) => valuesOf(reply).sort())
}
const both = (...ids: number[]) => [ids, ids]

/** Nobody may see what was a second ago. */
const aSecond = () => setTimeout(1000)

test('whoever makes up versions has a source read ten times a second at most, and who heard of a change still sees it at once', async (t) => {
  const name = await table()
  const id = await maps.dataset({ source: name })
  const headers = { 'x-api-key': maps.tenant.developer }
  const ask = (version: string) =>
    maps.app.http.inject({ url: `/tiles/${id}/0/0/0.mvt?tile-version=${version}`, headers })
  await ask('first')
  const read = t.mock.method(maps.app.services.tiles.context.data, 'state').mock
  const begin = performance.now()
  // One after the other: those that come together are read for together anyway.
  for (let n = 0; n < 12; n++) await ask(`made-up-${n}`)
  await script(`INSERT INTO ${name} VALUES (2, ST_Point(7, 50, 4326))`)
  const [heard] = await Promise.all([ask('heard'), ...Array.from({ length: 50 }, (_, n) => ask(`more-${n}`))])
  assert.deepEqual(valuesOf(heard).sort(), [1, 2])
  const most = 2 + (performance.now() - begin) / 100
  assert.ok(read.callCount() <= most, `${read.callCount()} readings, ${most} are allowed`)
  assert.ok(read.callCount() >= 1)
})

test('a TileJSON says which is the newest change of a followed table that its tiles have', async () => {
  const name = await table()
  const id = await maps.dataset({ source: name })
  const headers = { 'x-api-key': maps.tenant.developer }
  const lastChange = async (version: string) => {
    const described = await maps.app.http.inject({ url: `/tiles/${id}/index.json?tile-version=${version}`, headers })
    return described.json().dataset.lastChange
  }
  assert.equal(await lastChange('a'), undefined)
  await script(`SELECT svc.follow_table('app_${maps.tenant.id.replaceAll('-', '')}', '${name}');
    UPDATE ${name} SET id = 2; UPDATE ${name} SET id = 3`)
  const log = await maps.app.db.query<{ version: string }>(
    sql`SELECT xid || '.' || seq AS version FROM svc.change_log WHERE relation::regclass::text LIKE ${`%${name}`} ORDER BY xid, seq`,
  )
  assert.deepEqual([log.length, await lastChange('b')], [2, log[1]?.version])
})

test('whoever heard of a change gets its tile at once from every server, by naming a version it has not seen', async () => {
  const name = await table()
  for (const id of [await maps.dataset({ source: name }), await source(await maps.dataset({ source: name }))]) {
    const before = (await seen(id)).flat().length
    await script(`INSERT INTO ${name} VALUES (${before + 1}, ST_Point(7, 50, 4326))`)
    const headers = { 'x-api-key': maps.tenant.developer }
    const described = await maps.app.http.inject({
      url: `/tiles/${id}/index.json?tile-version=heard-${before}`,
      headers,
    })
    const { search } = new URL(described.json().tiles[0])
    for (const http of [other.http, maps.app.http]) {
      const url = `/tiles/${id}/0/0/0.mvt${search}`
      const replies = await Promise.all([http.inject({ url, headers }), http.inject({ url, headers })])
      for (const reply of replies) {
        assert.ok(valuesOf(reply).includes(before + 1))
        assert.equal(reply.headers['cache-control'], 'private, max-age=3600')
      }
    }
  }
})

// They mostly wait.
describe('a change of the data is seen within a second, on every server', { concurrency: true }, () => {
  test('INSERT, UPDATE, DELETE and TRUNCATE of a table', async () => {
    const name = await table()
    const id = await source(await maps.dataset({ source: name }))
    assert.deepEqual(await seen(id), both(1))
    for (const [change, ...expected] of [
      [`INSERT INTO ${name} VALUES (2, ST_Point(7, 50, 4326))`, 1, 2],
      [`UPDATE ${name} SET id = 3 WHERE id = 2`, 1, 3],
      [`DELETE FROM ${name} WHERE id = 1`, 3],
      [`TRUNCATE ${name}`],
      [`INSERT INTO ${name} VALUES (9, ST_Point(7, 50, 4326))`, 9],
    ] as [string, ...number[]][]) {
      await script(change)
      await aSecond()
      assert.deepEqual(await seen(id), both(...expected), change)
    }
  })

  test('of a dataset that is a map by itself, also where nothing was before', async () => {
    const name = await table()
    const id = await maps.dataset({ source: name })
    assert.deepEqual(await seen(id), both(1))
    await script(`INSERT INTO ${name} VALUES (2, ST_Point(-100, -40, 4326))`)
    await aSecond()
    assert.deepEqual(await seen(id), both(1, 2))
    assert.equal((await maps.get(`/tiles/${id}/4/3/9.mvt`)).statusCode, 200)
  })

  test('of a tile source whose extent nobody gave, also where nothing was before', async () => {
    const name = await table()
    const id = await maps.tileSource({ source: await maps.dataset({ source: name }) })
    assert.equal((await maps.get(`/tiles/${id}/4/3/9.mvt`)).statusCode, 204)
    await script(`INSERT INTO ${name} VALUES (2, ST_Point(-100, -40, 4326))`)
    await aSecond()
    assert.deepEqual(await seen(id), both(1, 2))
    assert.equal((await maps.get(`/tiles/${id}/4/3/9.mvt`)).statusCode, 200)
  })

  test('under a view and in a query', async () => {
    const name = await table('CREATE VIEW $_view AS SELECT * FROM $')
    const view = await source(await maps.dataset({ source: `${name}_view` }))
    const query = await source(await maps.dataset({ type: 'sql', source: `SELECT * FROM ${name} WHERE id < 10` }))
    assert.deepEqual([await seen(view), await seen(query)], [both(1), both(1)])
    await script(`INSERT INTO ${name} VALUES (2, ST_Point(7, 50, 4326))`)
    await aSecond()
    assert.deepEqual([await seen(view), await seen(query)], [both(1, 2), both(1, 2)])
  })

  test('in a part of a partitioned table', async () => {
    await script(`
      CREATE TABLE whole (id int, geom geometry(Point, 4326)) PARTITION BY RANGE (id);
      CREATE TABLE part PARTITION OF whole FOR VALUES FROM (0) TO (100);
      INSERT INTO whole VALUES (1, ST_Point(6, 50, 4326))`)
    const id = await source(await maps.dataset({ source: 'whole' }))
    assert.deepEqual(await seen(id), both(1))
    await script('INSERT INTO part VALUES (2, ST_Point(7, 50, 4326))')
    await aSecond()
    assert.deepEqual(await seen(id), both(1, 2))
  })

  test('when a materialised view is refreshed', async () => {
    const name = await table('CREATE MATERIALIZED VIEW $_kept AS SELECT * FROM $')
    const id = await source(await maps.dataset({ source: `${name}_kept` }))
    assert.deepEqual(await seen(id), both(1))
    await script(`INSERT INTO ${name} VALUES (2, ST_Point(7, 50, 4326))`)
    await aSecond()
    assert.deepEqual(await seen(id), both(1))
    await script(`REFRESH MATERIALIZED VIEW ${name}_kept`)
    await aSecond()
    assert.deepEqual(await seen(id), both(1, 2))
  })

  test('of the columns of a table: what is gone is shown by nobody', async () => {
    for (const change of ['DROP note', 'RENAME note TO other']) {
      const name = await table("ALTER TABLE $ ADD note text DEFAULT 'secret'")
      const id = await source(await maps.dataset({ source: name }))
      const answers = async () => {
        const headers = { 'x-api-key': maps.tenant.developer }
        const url = `/tiles/${id}/0/0/0.mvt`
        return Promise.all([maps.app.http, other.http].map((http) => http.inject({ url, headers })))
      }
      for (const reply of await answers()) assert.deepEqual(valuesOf(reply, 'note'), ['secret'])
      await script(`ALTER TABLE ${name} ${change}`)
      await aSecond()
      for (const reply of await answers()) assert.ok(!reply.body.includes('secret'), change)
    }
  })

  test('when another table takes its name, and when that one changes', async () => {
    const name = await table()
    const id = await source(await maps.dataset({ source: name }))
    assert.deepEqual(await seen(id), both(1))
    await script(`
      DROP TABLE ${name}; CREATE TABLE ${name} (id int PRIMARY KEY, geom geometry(Point, 4326));
      INSERT INTO ${name} VALUES (7, ST_Point(6, 50, 4326))`)
    await aSecond()
    assert.deepEqual(await seen(id), both(7))
    await script(`INSERT INTO ${name} VALUES (8, ST_Point(6, 51, 4326))`)
    await aSecond()
    assert.deepEqual(await seen(id), both(7, 8))
  })
})

describe('whatever the order of commits', { skip }, () => {
  const withClients = async (work: (first: pg.Client, second: pg.Client) => Promise<void>) => {
    const clients = [1, 2].map(() => new pg.Client({ connectionString: maps.app.url }))
    const [first, second] = clients as [pg.Client, pg.Client]
    try {
      for (const client of clients) {
        await client.connect()
        await client.query(`SET search_path = ${maps.schema}, public`)
      }
      await work(first, second)
    } finally {
      for (const client of clients) await client.end()
    }
  }

  test('a tile is answered though a right on its table is granted while the server begins to watch it', async () => {
    const name = await table()
    const id = await source(await maps.dataset({ source: name }))
    await withClients(async (first, second) => {
      await first.query('BEGIN')
      await first.query(`GRANT SELECT ON ${name} TO ${maps.schema}`)
      const answers = seen(id)
      const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'transactionid'"
      await until(async () => (await second.query(waiting)).rowCount !== 0)
      await first.query('COMMIT')
      assert.deepEqual(await answers, both(1))
    })
  })

  test('a tile never shows what is not committed, and always what is', async () => {
    const name = await table()
    const id = await source(await maps.dataset({ source: name }))
    await seen(id)
    await withClients(async (first, second) => {
      await first.query('BEGIN')
      await first.query(`INSERT INTO ${name} VALUES (2, ST_Point(6, 50, 4326))`)
      await second.query(`INSERT INTO ${name} VALUES (3, ST_Point(6, 50, 4326))`)
      await aSecond()
      assert.deepEqual(await seen(id), both(1, 3))
      await first.query('COMMIT')
      await aSecond()
      assert.deepEqual(await seen(id), both(1, 2, 3))
      await first.query('BEGIN')
      await first.query(`DELETE FROM ${name}`)
      await first.query('ROLLBACK')
      await aSecond()
      assert.deepEqual(await seen(id), both(1, 2, 3))
    })
  })

  test('what is being written when a table is first shown is not missed', async () => {
    const name = await table()
    const id = await source(await maps.dataset({ source: name }))
    await withClients(async (first) => {
      await first.query('BEGIN')
      await first.query(`INSERT INTO ${name} VALUES (2, ST_Point(6, 50, 4326))`)
      assert.deepEqual(await seen(id), both(1))
      await first.query('COMMIT')
      await aSecond()
      assert.deepEqual(await seen(id), both(1, 2))
    })
  })
})

test('a table that is dropped while others begin to be watched is no fault of who asks for them', {
  skip,
}, async () => {
  await maps.app.db.script('CREATE SCHEMA watched; CREATE TABLE watched.a (); CREATE TABLE watched.b ()')
  const dropping = new pg.Client(maps.app.url)
  await dropping.connect()
  await dropping.query('BEGIN; LOCK TABLE watched.a; DROP TABLE watched.b')
  const watching = maps.app.db.query(sql`SELECT svc.watch_tables('watched')`)
  await until(async () => {
    const { rows } = await dropping.query(`SELECT FROM pg_locks WHERE relation = 'watched.a'::regclass AND NOT granted`)
    return rows.length > 0
  })
  await dropping.query('COMMIT')
  await dropping.end()
  await watching
})

describe('a change of a record is seen at once by the server that made it, within a second by the others', {
  concurrency: true,
}, () => {
  const patch = (path: string, body: object) => maps.app.call('PATCH', path, { key: maps.tenant.developer, body })
  const status = async (http: App['http'], path: string) =>
    (await http.inject({ url: path, headers: { 'x-api-key': maps.tenant.developer } })).statusCode

  test('of the tile source', async () => {
    const id = await source(await maps.dataset({ source: await table() }))
    assert.deepEqual(await seen(id), both(1))
    const path = `/tiles/${id}/0/0/0.mvt`
    await patch(`/api/v1/tilesources/${id}`, { minZoom: 1 })
    assert.equal(await status(maps.app.http, path), 404)
    await aSecond()
    assert.equal(await status(other.http, path), 404)
    await maps.app.call('DELETE', `/api/v1/tilesources/${id}`, { key: maps.tenant.developer })
    assert.equal(await status(maps.app.http, `/tiles/${id}/index.json`), 404)
    await aSecond()
    assert.equal(await status(other.http, `/tiles/${id}/index.json`), 404)
  })

  test('of the dataset', async () => {
    const first = await table()
    const second = await table('UPDATE $ SET id = 5')
    const dataset = await maps.dataset({ source: first })
    const ids = [await source(dataset), dataset]
    for (const id of ids) assert.deepEqual(await seen(id), both(1))
    await patch(`/api/v1/datasets/${dataset}`, { source: second })
    for (const id of ids) assert.deepEqual((await seen(id))[0], [5])
    await aSecond()
    for (const id of ids) assert.deepEqual(await seen(id), both(5))
  })
})
