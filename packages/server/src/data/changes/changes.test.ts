import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type ChangeWorld, changed, changeWorld, sweepLog } from '../../../testing/changes/change-world.ts'
import { until } from '../../../testing/until.ts'

let world: ChangeWorld
before(async () => {
  world = await changeWorld()
})
after(() => world.close())

const script = (text: string) => world.script(text)
const table = (columns?: string) => world.table(columns)
const followed = (id: string) => world.followed(id)
const follow: ChangeWorld['follow'] = (id, asked) => world.follow(id, asked)

describe('a change event', () => {
  test('says what was done to which rows and where: old and new boxes of an update', async () => {
    const { name, id } = await table()
    const client = await followed(id)
    await script(`INSERT INTO $.${name} VALUES (1, ST_Point(6, 50, 4326)), (2, ST_Point(7, 51, 4326))`)
    await changed(client)
    await script(`UPDATE $.${name} SET geom = ST_Point(10, 40, 4326) WHERE id = 1`)
    await changed(client, 2)
    await script(`DELETE FROM $.${name} WHERE id = 2`)
    await changed(client, 3)
    await script(`TRUNCATE $.${name}`)
    await changed(client, 4)
    const told = client.changes().map(({ version, ...rest }) => rest)
    assert.deepEqual(told, [
      { operations: ['insert'], rows: 2, keys: [1, 2], boxes: [[6, 50, 7, 51]] },
      {
        operations: ['update'],
        rows: 1,
        keys: [1],
        boxes: [
          [10, 40, 10, 40],
          [6, 50, 6, 50],
        ],
      },
      { operations: ['delete'], rows: 1, keys: [2], boxes: [[7, 51, 7, 51]] },
      { operations: ['truncate'], rows: null, keys: null, boxes: null },
    ])
  })

  test('holds several statements of one transaction, and none for statements that changed nothing', async () => {
    const { name, id } = await table()
    const client = await followed(id)
    await world.app.db.transaction(async (tx) => {
      for (const n of [1, 2, 3]) {
        await tx.script(`INSERT INTO "${world.schema}".${name} VALUES (${n}, ST_Point(${n}, 0, 4326))`)
      }
      await tx.script(`UPDATE "${world.schema}".${name} SET geom = NULL WHERE id = 99`)
      await tx.script(`DELETE FROM "${world.schema}".${name} WHERE id = 2`)
    })
    await changed(client)
    const [{ operations, rows, keys, boxes }] = client.changes()
    assert.deepEqual({ operations, rows, keys }, { operations: ['insert', 'delete'], rows: 4, keys: [1, 2, 3] })
    assert.equal(boxes.length, 3)
    assert.equal(client.changes().length, 1)
  })

  test('says only that something has changed to those whom rules bind, and ends where rules begin to bind', async () => {
    const { name, id } = await table()
    const [free, ended] = [await followed(id), await followed(id)]
    const setRules = async (rules: object[] | null) => {
      const reply = await world.app.call('PATCH', `/api/v1/datasets/${id}`, { body: { rules, rulesFor: 'all' } })
      assert.equal(reply.status, 200, reply.text)
    }
    await setRules([{ users: 'anyone', levels: ['read'], where: { id: 1 } }])
    assert.equal((await ended.first('error')).data.code, 'rule_refused')
    assert.equal((await free.first('error')).data.status, 403)
    const bound = await followed(id)
    await script(`INSERT INTO $.${name} VALUES (1, ST_Point(6, 50, 4326)), (2, ST_Point(7, 51, 4326))`)
    await changed(bound)
    const [{ version, ...told }] = bound.changes()
    assert.match(version, /\d/)
    const operations = ['insert', 'update', 'delete', 'truncate']
    assert.deepEqual(told, { operations, rows: null, keys: null, boxes: null })
    const again = await follow(id, { lastEventId: (await bound.first('ready')).id })
    await changed(again)
    assert.deepEqual(again.keys(), [])
  })

  test('has only the box of more than 1 000 rows', async () => {
    const { name, id } = await table()
    const client = await followed(id)
    await script(`INSERT INTO $.${name} SELECT g, ST_Point(g / 100.0, 1, 4326) FROM generate_series(0, 1000) g`)
    await changed(client)
    const [{ rows, keys, boxes }] = client.changes()
    assert.deepEqual({ rows, keys, boxes }, { rows: 1001, keys: null, boxes: [[0, 1, 10, 1]] })
  })

  test('has no keys without a primary key, no boxes without a geometry, and arrays for keys of several columns', async () => {
    const bare = await table('a int')
    const bareClient = await followed(bare.id)
    await script(`INSERT INTO $.${bare.name} VALUES (1)`)
    await changed(bareClient)
    const [{ keys, boxes }] = bareClient.changes()
    assert.deepEqual({ keys, boxes }, { keys: null, boxes: [] })
    const wide = await table('b text, a bigint, PRIMARY KEY (b, a)')
    const wideClient = await followed(wide.id)
    await script(`INSERT INTO $.${wide.name} VALUES ('x"y', 1), (E'line\\nend', 9007199254740993)`)
    await changed(wideClient)
    assert.deepEqual(wideClient.keys(), [
      ['line\nend', '9007199254740993'],
      ['x"y', 1],
    ])
  })

  test('has boxes in longitude and latitude whatever the system of the column, and none that nobody can place', async () => {
    const metres = await table('id int PRIMARY KEY, geom geometry(Point, 3857)')
    const client = await followed(metres.id)
    await script(`INSERT INTO $.${metres.name} VALUES (1, ST_Transform(ST_Point(6, 50, 4326), 3857))`)
    await changed(client)
    const [[west, south]] = client.changes()[0].boxes
    assert.ok(Math.abs(west - 6) < 1e-4 && Math.abs(south - 50) < 1e-4, `${west} ${south}`)
    const mixed = await table('id int PRIMARY KEY, geom geometry')
    const mixedClient = await followed(mixed.id)
    await script(`INSERT INTO $.${mixed.name} VALUES (1, ST_Point(6, 50, 4326)), (2, ST_Point(6, 50, 3857))`)
    await changed(mixedClient)
    assert.equal(mixedClient.changes()[0].boxes, null)
    await script(`INSERT INTO $.${mixed.name} VALUES (3, ST_Point('NaN', 'Infinity', 4326)), (4, 'POINT EMPTY')`)
    await changed(mixedClient, 2)
    assert.deepEqual(mixedClient.changes()[1].keys, [3, 4])
  })

  test('has boxes within ±180 degrees of rows that lie beyond', async () => {
    const { name, id } = await table('id int PRIMARY KEY, geom geometry(Geometry, 4326)')
    const client = await followed(id)
    await script(`INSERT INTO $.${name} VALUES (1, ST_Point(190, 5, 4326))`)
    await changed(client)
    await script(`INSERT INTO $.${name} VALUES (2, ST_MakeEnvelope(-190, 0, -170, 10, 4326))`)
    await changed(client, 2)
    assert.deepEqual(
      client.changes().map(({ boxes }) => boxes),
      [
        [[-170, 5, -170, 5]],
        [
          [170, 0, 180, 10],
          [-180, 0, -170, 10],
        ],
      ],
    )
  })
})

describe('Last-Event-ID', () => {
  test('resumes without loss, by header or by parameter', async () => {
    const { name, id } = await table()
    const client = await followed(id)
    await script(`INSERT INTO $.${name} VALUES (1)`)
    await changed(client)
    client.close()
    await script(`INSERT INTO $.${name} VALUES (2)`)
    await script(`INSERT INTO $.${name} VALUES (3)`)
    const lastEventId = String(client.lastId())
    for (const asked of [{ lastEventId }, { query: `?lastEventId=${lastEventId}` }]) {
      const again = await follow(id, asked)
      await until(() => again.keys().length >= 2)
      assert.deepEqual(again.events[0], { event: 'ready', data: { resumed: true }, id: undefined })
      assert.deepEqual(again.keys(), [2, 3])
      again.close()
    }
    const live = await follow(id, { lastEventId })
    await until(() => live.keys().length >= 2)
    await script(`INSERT INTO $.${name} VALUES (4)`)
    await until(() => live.keys().length >= 3)
    assert.deepEqual(live.keys(), [2, 3, 4])
  })

  test('of garbage, of the future, of another dataset or of another tenant is a reset', async () => {
    const { name, id } = await table()
    const foreign = await followed((await table()).id)
    const client = await followed(id)
    const [era = ''] = String(client.lastId()).split('.')
    const ids = ['x', '0', '..', '-1.2.3', `${era}.99999999999999999.0`, `${era}.${'9'.repeat(19)}.0`]
    for (const lastEventId of [...ids, `${era}.1`, `${era}.1.2.3`, "'; DROP TABLE x", String(foreign.lastId())]) {
      const again = await follow(id, { lastEventId })
      const { data, id: fresh } = await again.first('reset')
      assert.match(data.reason, /no longer known/)
      assert.match(String(fresh), new RegExp(`^${era}\\.`))
      await script(`INSERT INTO $.${name} SELECT coalesce(max(id), 0) + 1 FROM $.${name}`)
      await changed(again)
      again.close()
    }
  })

  test('older than what is kept is a reset', async () => {
    const { name, id } = await table()
    const client = await followed(id)
    const lastEventId = client.lastId()
    await script(`INSERT INTO $.${name} VALUES (1)`)
    await changed(client)
    client.close()
    await sweepLog(world.app.db)
    const again = await follow(id, { lastEventId })
    await again.first('reset')
  })
})
