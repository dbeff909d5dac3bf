import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type ChangeWorld, changed, changeWorld, listen } from '../../../testing/changes/change-world.ts'
import { until } from '../../../testing/until.ts'
import { sql } from '../../kernel/db/sql.ts'

let world: ChangeWorld
before(async () => {
  world = await changeWorld({ LISTENERS_PER_APPLICATION: '40' })
})
after(() => world.close())

const script = (text: string) => world.script(text)
const table = (columns?: string) => world.table(columns)
const followed: ChangeWorld['followed'] = (id, asked) => world.followed(id, asked)
const follow: ChangeWorld['follow'] = (id, asked) => world.follow(id, asked)
const call: ChangeWorld['app']['call'] = (method, url, request) =>
  world.app.call(method, url, { key: world.tenant.developer, ...request })

describe('a stream ends', () => {
  test('with an error event when its key is deleted', async () => {
    const { id } = await table()
    const key = await world.app.key(world.tenant.id, { datasets: { execute: [id] } })
    const client = await followed(id, { key })
    assert.equal((await world.app.call('DELETE', `/api/v1/apikeys/${key}`)).status, 200)
    await client.over
    assert.equal(client.events.at(-1)?.event, 'error')
    assert.equal(client.events.at(-1)?.data.code, 'key_revoked')
    assert.equal((await follow(id, { key })).status, 401)
  })

  test('with an error event when its dataset is deleted', async () => {
    const { id } = await table()
    const client = await followed(id)
    assert.equal((await call('DELETE', `/api/v1/datasets/${id}`)).status, 200)
    await client.over
    assert.equal(client.events.at(-1)?.data.code, 'not_found')
  })

  test('when the dataset no longer shows a table', async () => {
    const { id } = await table()
    const client = await followed(id)
    await script('CREATE VIEW $.some_view AS SELECT 1 AS id')
    assert.equal((await call('PATCH', `/api/v1/datasets/${id}`, { body: { source: 'some_view' } })).status, 200)
    await client.over
    assert.deepEqual([client.events.at(-1)?.event, client.events.at(-1)?.data.code], ['error', 'conflict'])
  })

  test('without an error when its server stops, and goes on at another', async () => {
    const { name, id } = await table()
    const other = await world.app.replica()
    const port = await listen(other)
    const client = await followed(id, { port })
    await other.close()
    await client.over
    assert.deepEqual(client.names(), ['ready'])
    await script(`INSERT INTO $.${name} VALUES (1)`)
    const again = await follow(id, { lastEventId: client.lastId() })
    await changed(again)
    assert.deepEqual([again.names(), again.keys()], [['ready', 'change'], [1]])
  })
})

describe('a reset', () => {
  test('is sent when the table was replaced by another of the same name', async () => {
    const { name, id } = await table()
    const client = await followed(id)
    await script(`BEGIN; DROP TABLE $.${name}; CREATE TABLE $.${name} (id int PRIMARY KEY); COMMIT`)
    const { id: fresh } = await client.first('reset')
    assert.notEqual(fresh?.split('.')[0], client.events[0]?.id?.split('.')[0])
    await script(`INSERT INTO $.${name} VALUES (7)`)
    await changed(client)
    assert.deepEqual(client.keys(), [7])
    const late = await follow(id, { lastEventId: client.events[0]?.id })
    await late.first('reset')
  })

  test('is sent when a trigger was dropped or disabled, and changes are followed again then', async () => {
    for (const spoil of ['DROP TRIGGER svc_log_update ON', 'ALTER TABLE']) {
      const { name, id } = await table()
      const client = await followed(id)
      await script(`${spoil} $.${name} ${spoil.startsWith('ALTER') ? 'DISABLE TRIGGER svc_log_insert' : ''}`)
      await client.first('reset')
      await script(`INSERT INTO $.${name} VALUES (1); UPDATE $.${name} SET id = 2`)
      await until(() => client.keys().length >= 2)
      assert.deepEqual(client.keys(), [1, 2])
    }
  })

  test('is sent when a trigger was disabled for a while, though it is enabled again before anybody looks', async () => {
    for (const enable of ['ENABLE TRIGGER USER', 'ENABLE ALWAYS TRIGGER svc_log_insert']) {
      const { name, id } = await table()
      const client = await followed(id)
      await script(`BEGIN; ALTER TABLE $.${name} DISABLE TRIGGER USER; INSERT INTO $.${name} VALUES (1);
        ALTER TABLE $.${name} ${enable}; COMMIT`)
      await client.first('reset')
      await script(`INSERT INTO $.${name} VALUES (2)`)
      await changed(client)
      assert.deepEqual(client.keys(), [2], enable)
    }
  })

  test('is not needed for what a session writes whose session_replication_role is replica: it is told', async () => {
    const { name, id } = await table()
    const client = await followed(id)
    await world.app.admin.script(`SET session_replication_role = replica;
      INSERT INTO "${world.schema}".${name} VALUES (1); RESET session_replication_role`)
    await changed(client)
    assert.deepEqual([client.names(), client.keys()], [['ready', 'change'], [1]])
  })

  test('is not sent when the triggers of an earlier version are made to fire in all sessions', async () => {
    const { name, id } = await table()
    const client = await followed(id)
    const states = async () =>
      (
        await world.app.db.query(sql`SELECT f.era, array_agg(DISTINCT t.tgenabled::text) AS fire FROM svc.followed_tables f
          JOIN pg_trigger t ON t.tgrelid = f.relation AND t.tgname LIKE 'svc\\_log\\_%'
          WHERE f.relation = ${`${world.schema}.${name}`}::regclass GROUP BY f.era`)
      )[0]
    const before = await states()
    assert.deepEqual(before?.fire, ['A'])
    await script(`BEGIN; ALTER TABLE $.${name} ENABLE TRIGGER USER; UPDATE svc.followed_tables SET columns = split_part(columns, '.', 1)
      WHERE relation = '$.${name}'::regclass; COMMIT`)
    assert.deepEqual((await states())?.fire, ['O'])
    await world.app.db.query(sql`SELECT svc.follow_table(${world.schema}, ${name})`)
    assert.deepEqual(await states(), before)
    await script(`INSERT INTO $.${name} VALUES (1)`)
    await changed(client)
    assert.deepEqual(client.names(), ['ready', 'change'])
  })

  test('is sent when the table has other columns, and when the dataset shows another table', async () => {
    const { name, id } = await table()
    const other = await table()
    const client = await followed(id)
    await script(`ALTER TABLE $.${name} ADD COLUMN note text DEFAULT 'x'`)
    await client.first('reset')
    const body = { source: other.name }
    assert.equal((await call('PATCH', `/api/v1/datasets/${id}`, { body })).status, 200)
    await until(() => client.names().filter((event) => event === 'reset').length === 2)
    await script(`INSERT INTO $.${name} VALUES (1); INSERT INTO $.${other.name} VALUES (2)`)
    await changed(client)
    assert.deepEqual(client.keys(), [2])
  })
})

describe('what can be followed', () => {
  test('is a partitioned table, also where somebody writes to a part of it, or adds one', async () => {
    await script(`CREATE TABLE $.parted (id int PRIMARY KEY) PARTITION BY RANGE (id);
      CREATE TABLE $.part_a PARTITION OF $.parted FOR VALUES FROM (0) TO (10)`)
    const client = await followed(await world.dataset('parted'))
    await script('INSERT INTO $.parted VALUES (1)')
    await changed(client)
    await script('INSERT INTO $.part_a VALUES (2)')
    await changed(client, 2)
    assert.deepEqual(client.keys(), [1, 2])
    await script('CREATE TABLE $.part_b PARTITION OF $.parted FOR VALUES FROM (10) TO (20)')
    await client.first('reset')
    await script('INSERT INTO $.part_b VALUES (11)')
    await changed(client, 3)
    assert.deepEqual(client.keys(), [1, 2, 11])
  })

  test('is no view, no query, and nothing of another tenant', async () => {
    await script('CREATE VIEW $.a_view AS SELECT 1 AS id')
    const view = await follow(await world.dataset('a_view'))
    assert.equal(view.status, 409)
    assert.match(view.problem.detail, /view or a foreign table/)
    const query = await follow(await world.dataset('SELECT 1 AS id', { type: 'sql' }))
    assert.equal(query.status, 409)
    assert.match(query.problem.detail, /"sql"/)
    const { id } = await table()
    const foreign = await world.app.tenant('foreign')
    assert.equal((await follow(id, { key: foreign.developer })).status, 404)
  })

  test('tells nothing of the rows of a table with row security', async () => {
    const { name, id } = await table()
    await script(`ALTER TABLE $.${name} ENABLE ROW LEVEL SECURITY`)
    const client = await followed(id)
    await script(`INSERT INTO $.${name} VALUES (1, ST_Point(6, 50, 4326))`)
    await changed(client)
    const [{ version, ...told }] = client.changes()
    assert.match(version, /^\d+\.\d+$/)
    assert.deepEqual(told, { operations: ['insert'], rows: null, keys: null, boxes: null })
  })

  test('takes the triggers from tables that nobody has followed for the retention', async () => {
    const { name, id } = await table()
    const client = await followed(id)
    const triggers = async () => {
      const rows = await world.app.db.query(sql`SELECT FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
        WHERE c.relname = ${name} AND t.tgname LIKE 'svc\\_log\\_%'`)
      return rows.length
    }
    assert.equal(await triggers(), 4)
    const { changeFeed } = world.app.services
    const others = changeFeed.listeners - 1
    client.close()
    await until(() => changeFeed.listeners === others)
    await world.app.db.query(sql`UPDATE svc.followed_tables SET followed_at = followed_at - interval '25 hours'
      WHERE relation = ${`${world.schema}.${name}`}::regclass`)
    await world.app.db.query(sql`SELECT svc.sweep_changes('24 hours', 1000)`)
    assert.equal(await triggers(), 0)
    const again = await follow(id, { lastEventId: client.lastId() })
    await again.first('reset')
    assert.equal(await triggers(), 4)
  })
})

test('an application has no more listeners than its limit, and another its own', async () => {
  const { id } = await table()
  const { listenerSlots } = world.app.services
  const releases = Array.from({ length: 40 }, () => listenerSlots.tryAdmit(world.tenant.id))
  const refused = await follow(id)
  const { status, code, limit, limitName } = refused.problem
  assert.deepEqual(
    { status, code, limit, limitName },
    { status: 429, code: 'busy', limit: 40, limitName: 'changeListeners' },
  )
  for (const release of releases) release?.()
  await followed(id)
})
