import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ChangeClient } from '../../../testing/changes/change-client.ts'
import { changed, listen } from '../../../testing/changes/change-world.ts'
import { type ExternalWorld, externalWorld } from '../../../testing/peers/external-world.ts'
import { startReplica } from '../../../testing/processes/replica-process.ts'
import { valuesOf } from '../../../testing/tiles.ts'
import { until } from '../../../testing/until.ts'
import { sql } from '../../kernel/db/sql.ts'
import { tellAbandoned } from './external-log.ts'

// Tables in an external PostgreSQL database: what is written there through the service is told as of its own tables.

let found: ExternalWorld | undefined
let world: ExternalWorld
before(async () => {
  found = await externalWorld()
  if (found) world = found
})
after(() => found?.close())

const external = (name: string, work: () => Promise<void>) =>
  test(name, async (t) => (found ? work() : t.skip('no PostgreSQL server is running')))

const point = (x: number, y: number) => ({ type: 'Point', coordinates: [x, y] })
const toldBy = (client: ChangeClient) =>
  client.changes().map(({ version, keys, ...rest }) => ({ ...rest, keys: keys && [...keys].sort() }))
const box = (x: number, y: number) => [x, y, x, y]

describe('the changes of an external table', () => {
  external('are told with operations, keys and boxes, whichever operation of the API writes them', async () => {
    const { id, path, insert } = await world.table()
    const client = await world.followed(id)
    assert.deepEqual(client.events[0]?.data, { resumed: false, scope: 'graticule' })
    const row = (key: number, x: number) => ({ id: key, geom: point(x, 50) })
    const steps: [() => Promise<unknown>, object[]][] = [
      [
        () => insert([row(1, 6), row(2, 7)]),
        [{ operations: ['insert'], rows: 2, keys: [1, 2], boxes: [[6, 50, 7, 50]] }],
      ],
      [
        () => world.call('PATCH', `${path}/1`, { body: { geom: point(10, 40) } }),
        [{ operations: ['update'], rows: 1, keys: [1], boxes: [box(10, 40), box(6, 50)] }],
      ],
      [
        () => world.call('PATCH', `${path}/1`, { body: { name: 'a' } }),
        [{ operations: ['update'], rows: 1, keys: [1], boxes: [box(10, 40)] }],
      ],
      [
        () => world.call('PUT', `${path}/2`, { body: { name: 'b' } }),
        [{ operations: ['update'], rows: 1, keys: [2], boxes: [box(7, 50)] }],
      ],
      [
        () => world.call('PUT', `${path}/3`, { body: { name: 'c', geom: point(1, 2) } }),
        [{ operations: ['insert'], rows: 1, keys: [3], boxes: [box(1, 2)] }],
      ],
      [
        () => world.call('POST', `${path}?onConflict=update`, { body: [row(3, 20), row(4, 21)] }),
        [{ operations: ['insert', 'update'], rows: 2, keys: [3, 4], boxes: [box(21, 50), box(20, 50), box(1, 2)] }],
      ],
      [
        () => world.call('PATCH', `${path}?filter[id]=3&expect=1`, { body: { geom: point(30, 3) } }),
        [{ operations: ['update'], rows: 1, keys: [3], boxes: [box(30, 3), box(20, 50)] }],
      ],
      [() => world.call('DELETE', `${path}/1`), [{ operations: ['delete'], rows: 1, keys: [1], boxes: [box(10, 40)] }]],
      [
        () => world.call('DELETE', `${path}?filter={}&expect=3`),
        [{ operations: ['delete'], rows: 3, keys: [2, 3, 4], boxes: [[21, 3, 30, 50]] }],
      ],
    ]
    for (const [write, expected] of steps) {
      const seen = client.changes().length
      await write()
      await changed(client, seen + 1)
      assert.deepEqual(toldBy(client).slice(seen), expected)
    }
    await world.call('POST', `${path}?onConflict=ignore`, { body: [row(5, 5)] })
    await world.call('POST', `${path}?onConflict=ignore`, { body: [row(5, 5)] })
    await insert(row(6, 6))
    await until(() => client.keys().includes(6))
    assert.equal(client.keys().filter((key) => key === 5).length, 1)
    assert.equal(await world.intents(), 0)
  })

  external('are told of features that are written by OGC API Features', async () => {
    const { id } = await world.table()
    const client = await world.followed(id)
    const headers = { 'content-type': 'application/geo+json' }
    const feature = { type: 'Feature', id: 1, geometry: point(4, 5), properties: { name: 'a' } }
    const items = `/ogc/collections/${id}/items`
    const call: ExternalWorld['app']['call'] = (method, url, request) =>
      world.app.call(method, url, { key: world.tenant.developer, headers, ...request })
    assert.equal((await call('POST', items, { body: feature })).status, 201)
    assert.equal((await call('PUT', `${items}/1`, { body: { ...feature, geometry: point(6, 7) } })).status, 204)
    assert.equal((await call('DELETE', `${items}/1`, { headers: {} })).status, 204)
    await until(() =>
      client
        .changes()
        .flatMap(({ operations }) => operations)
        .includes('delete'),
    )
    assert.deepEqual(
      [...new Set(client.changes().flatMap(({ operations }) => operations))],
      ['insert', 'update', 'delete'],
    )
    assert.deepEqual([...new Set(client.keys())], [1])
  })

  external('have no keys where there are none or too many, and say nothing of rows with row security', async () => {
    const bare = await world.table('a int, geom geometry(Point, 3857)')
    const client = await world.followed(bare.id)
    await bare.insert({ a: 1, geom: point(6, 50) })
    await changed(client)
    const [{ keys, boxes }] = client.changes()
    assert.equal(keys, null)
    assert.ok(Math.abs(boxes[0][0] - 6) < 1e-4 && Math.abs(boxes[0][1] - 50) < 1e-4, JSON.stringify(boxes))
    const wide = await world.table('b text, a bigint, PRIMARY KEY (b, a)')
    const wideClient = await world.followed(wide.id)
    await wide.insert([{ b: 'x"y', a: '9007199254740993' }])
    await changed(wideClient)
    assert.deepEqual(toldBy(wideClient), [
      { operations: ['insert'], rows: 1, keys: [['x"y', '9007199254740993']], boxes: [] },
    ])
    await wide.insert(Array.from({ length: 1_001 }, (_, a) => ({ b: 'many', a })))
    await until(() => wideClient.keys().length === 1_002)
    await world.call('DELETE', `${wide.path}?filter[b]=many&expect=1001`)
    await until(() => wideClient.changes().at(-1).operations.includes('delete'))
    assert.deepEqual([wideClient.changes().at(-1).rows, wideClient.changes().at(-1).keys], [1_001, null])
    const hidden = await world.table()
    await world.server.db.script(`ALTER TABLE ${hidden.name} ENABLE ROW LEVEL SECURITY`)
    const hiddenClient = await world.followed(hidden.id)
    await hidden.insert({ id: 1, geom: point(1, 1) })
    await changed(hiddenClient)
    assert.deepEqual(toldBy(hiddenClient), [{ operations: ['insert'], rows: null, keys: null, boxes: null }])
  })

  external(
    'are the same on every replica and through every dataset and database of the same table, and can be resumed',
    async () => {
      const { id, name, insert } = await world.table()
      const other = await world.app.replica()
      const port = await listen(other)
      const databaseId = await world.server.register(world.app, world.tenant.developer)
      const twin = await world.dataset(`public.${name}`, { databaseId })
      const client = await world.followed(id, { port })
      await insert({ id: 1 })
      await until(() => client.keys().length === 1)
      client.close()
      const headers = { 'x-api-key': world.tenant.developer, 'content-type': 'application/json' }
      const payload = JSON.stringify({ id: 2 })
      const url = `/api/v1/datasets/${twin}/rows`
      assert.equal((await other.http.inject({ method: 'POST', url, headers, payload })).statusCode, 201)
      await insert({ id: 3 })
      const again = await world.follow(id, { lastEventId: client.lastId() })
      await until(() => again.keys().length >= 2)
      assert.deepEqual([again.keys(), again.names().includes('reset')], [[2, 3], false])
    },
  )
})

describe('a write to an external table', () => {
  external('tells nothing if it is rolled back, and leaves nothing behind', async () => {
    const { id, name, path, insert } = await world.table(
      'id int PRIMARY KEY, n int UNIQUE DEFERRABLE INITIALLY DEFERRED',
    )
    const client = await world.followed(id)
    await insert({ id: 1, n: 1 })
    assert.equal((await insert({ id: 1, n: 2 })).status, 409)
    assert.equal((await insert({ id: 2, n: 1 })).status, 409, 'refused at the commit')
    assert.equal((await world.call('PATCH', `${path}?filter={}&expect=2`, { body: { n: 5 } })).status, 409)
    assert.equal((await world.call('DELETE', `${path}/7`)).status, 404)
    await insert({ id: 3, n: 3 })
    await until(() => client.keys().includes(3))
    assert.deepEqual([client.keys(), await world.count(name), await world.intents()], [[1, 3], 2, 0])
  })

  external('notes nothing where nobody follows', async () => {
    const { insert } = await world.table()
    const logged = async () => {
      const [row] = await world.app.db.query<{ n: string }>(sql`SELECT (SELECT count(*) FROM svc.change_log)
        + (SELECT count(*) FROM svc.change_intents) + (SELECT count(*) FROM pg_class WHERE relname LIKE 'svc\\_out\\_%') AS n`)
      return row?.n
    }
    const seen = await logged()
    assert.equal((await insert({ id: 1 })).status, 201)
    assert.equal(await logged(), seen)
  })

  external('is refused if it cannot be noted, and nothing is written', async () => {
    const { id, name, insert } = await world.table()
    await world.followed(id)
    await world.app.db.script('ALTER TABLE svc.change_intents RENAME TO away')
    const refused = await insert({ id: 1 })
    await world.app.db.script('ALTER TABLE svc.away RENAME TO change_intents')
    assert.deepEqual([refused.status, refused.body.code], [503, 'unavailable'])
    assert.equal(await world.count(name), 0)
  })

  external('that is under way when somebody begins to follow is told to them', async () => {
    const { id, name, insert } = await world.table()
    const commits = await world.heldCommits(name)
    const writing = insert({ id: 1 })
    await commits.isWaiting()
    const client = await world.followed(id)
    await commits.letGo()
    assert.equal((await writing).status, 201)
    await changed(client)
    assert.deepEqual(toldBy(client), [
      { operations: ['insert', 'update', 'delete'], rows: null, keys: null, boxes: null },
    ])
  })

  external('is told in the end if the answer to its commit was lost', async () => {
    const { id, name, insert } = await world.table()
    const client = await world.followed(id)
    const commits = await world.heldCommits(name)
    const writing = insert({ id: 1, geom: point(1, 2) })
    await commits.isWaiting()
    world.server.fail(undefined)
    assert.equal((await writing).status, 503)
    await commits.letGo()
    await until(async () => (await world.count(name)) === 1)
    await tellAbandoned(world.app.db)
    assert.deepEqual([await world.intents(), client.keys()], [1, []], 'it may still be under way')
    await world.abandon()
    await tellAbandoned(world.app.db)
    await until(() => client.keys().length > 0)
    assert.deepEqual([client.keys(), await world.intents()], [[1], 0])
  })

  external('is told again by its own process if others took it for abandoned', async () => {
    const { id, name, insert } = await world.table()
    const client = await world.followed(id)
    const commits = await world.heldCommits(name)
    const writing = insert({ id: 1 })
    await commits.isWaiting()
    await world.abandon()
    await tellAbandoned(world.app.db)
    assert.equal(await world.intents(), 0)
    await commits.letGo()
    assert.equal((await writing).status, 201)
    // In one event or in two.
    const told = () => client.changes().filter(({ keys }) => keys?.[0] === 1)
    await until(() => told().reduce((sum, { rows }) => sum + rows, 0) === 2)
  })

  test('is told in the end if its process is killed between the commits', async (t) => {
    if (!found || !world.app.url) return t.skip('another process cannot open the embedded database')
    const { id, name } = await world.table()
    const replica = await startReplica({
      DATABASE_URL: world.app.url,
      SECRET_KEY: 'a secret for tests, long enough to be one',
      DATA_DIR: world.app.dataDirectory,
    })
    t.after(() => replica.end('SIGKILL'))
    const client = await world.followed(id)
    const commits = await world.heldCommits(name)
    const writing = fetch(`${replica.url}/api/v1/datasets/${id}/rows`, {
      method: 'POST',
      headers: { 'x-api-key': world.tenant.developer, 'content-type': 'application/json' },
      body: JSON.stringify({ id: 1 }),
    })
    const isLost = assert.rejects(writing)
    await commits.isWaiting()
    await replica.end('SIGKILL')
    await isLost
    await commits.letGo()
    await until(async () => (await world.count(name)) === 1)
    await world.abandon()
    await tellAbandoned(world.app.db)
    await until(() => client.keys().length > 0)
    assert.deepEqual(client.keys(), [1])
  })
})

describe('an external dataset', () => {
  external('that is not editable cannot be followed, and its refusal says what to do', async () => {
    const { id } = await world.table()
    const client = await world.followed(id)
    const metadata = { editable: false }
    assert.equal((await world.call('PATCH', `datasets/${id}`, { body: { metadata } })).status, 200)
    await client.over
    assert.deepEqual([client.events.at(-1)?.event, client.events.at(-1)?.data.code], ['error', 'conflict'])
    const refused = await world.follow(id)
    assert.equal(refused.status, 409)
    assert.match(refused.problem.detail, /Set metadata\.editable to true/)
  })

  external('resets its listeners when its database is another, or when it shows another table', async () => {
    const { id } = await world.table()
    const second = await world.table()
    const databaseId = await world.server.register(world.app, world.tenant.developer)
    assert.equal((await world.call('PATCH', `datasets/${id}`, { body: { databaseId } })).status, 200)
    const client = await world.followed(id)
    const body = { source: second.name }
    assert.equal((await world.call('PATCH', `datasets/${id}`, { body })).status, 200)
    await client.first('reset')
    await second.insert({ id: 1 })
    await changed(client)
    assert.deepEqual(client.keys(), [1])
    await world.app.db.query(sql`UPDATE svc.databases SET host = 'elsewhere.example' WHERE id = ${databaseId}::uuid`)
    await until(() => client.names().filter((name) => name === 'reset').length === 2)
  })

  external('has tiles that are as new as the change whose version they are asked for', async () => {
    const { id, insert } = await world.table()
    const client = await world.followed(id)
    const other = await world.app.replica()
    const url = (version?: string) => `/tiles/${id}/0/0/0.mvt${version ? `?tile-version=${version}` : ''}`
    const headers = { 'x-api-key': world.tenant.developer }
    const ids = async (version?: string) => valuesOf(await other.http.inject({ url: url(version), headers }))
    await insert({ id: 1, geom: point(1, 1) })
    await changed(client)
    assert.deepEqual(await ids(client.changes()[0].version), [1])
    const described = await other.http.inject({ url: `/tiles/${id}/index.json`, headers })
    assert.equal(described.json().dataset.lastChange, client.changes()[0].version)
    for (let key = 2; key < 5; key++) {
      await insert({ id: key, geom: point(key, key) })
      await until(() => client.keys().includes(key))
      assert.equal((await ids(client.changes().at(-1).version)).length, key)
    }
  })

  external('is let go of when nobody has followed it for the retention', async () => {
    const { id } = await world.table()
    const client = await world.followed(id)
    const [era] = String(client.lastId()).split('.')
    client.close()
    const standIns = async () => {
      const rows =
        await world.app.db.query(sql`SELECT c.oid FROM pg_class c JOIN svc.followed_tables f ON f.relation = c.oid
        WHERE c.relname LIKE 'svc\\_out\\_%' AND f.era = ${era ?? ''}`)
      return rows.length
    }
    assert.equal(await standIns(), 1)
    await world.app.db.query(
      sql`UPDATE svc.followed_tables SET followed_at = followed_at - interval '25 hours' WHERE era = ${era ?? ''}`,
    )
    await world.app.db.query(sql`SELECT svc.sweep_changes('24 hours', 1000)`)
    await world.app.db.query(sql`SELECT svc.drop_stand_ins()`)
    const left = await world.app.db.query(sql`SELECT FROM pg_class c WHERE c.relname LIKE 'svc\\_out\\_%'
      AND NOT EXISTS (SELECT FROM svc.followed_tables f WHERE f.relation = c.oid)`)
    assert.deepEqual([left.length, await standIns()], [0, 0])
    const again = await world.follow(id, { lastEventId: client.lastId() })
    await again.first('reset')
  })

  external('can be bound to a webhook', async () => {
    const { id, insert } = await world.table()
    await world.bound(id)
    await insert({ id: 1, geom: point(3, 4) })
    const [told] = await world.toldOf(id)
    assert.equal(told?.type, 'dataset.changed')
    assert.deepEqual([told?.data.keys, told?.data.bbox], [[1], box(3, 4)])
  })
})
