import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { sweepLog } from '../../../testing/changes/change-world.ts'
import { until } from '../../../testing/until.ts'
import { type WebhookWorld, webhookWorld } from '../../../testing/webhook-world.ts'
import { sql } from '../../kernel/db/sql.ts'
import { overLimit } from '../../kernel/limits/limits.ts'
import { tellChanges } from './tell-changes.ts'
import { claimWebhook } from './webhook-rows.ts'

let world: WebhookWorld
before(async () => {
  world = await webhookWorld()
})
after(() => world.close())

const script = (text: string) => world.script(text)
const table = (columns?: string) => world.table(columns)
const keysOf = async (id: string, count: number) => (await world.toldOf(id, count)).map(({ data }) => data.keys)
const isPending = async (id: string): Promise<boolean> => {
  const { body } = await world.call('GET', `contactpoints/${id}/deliveries`)
  return body.some(({ status }: { status: string }) => status === 'pending')
}
/** A delivery has ended when its answer is recorded, which is a little after the receiver gave it. */
const ended = (id: string) => until(async () => !(await isPending(id)))

describe('a bound webhook', () => {
  test('gets one delivery for what was written since the last: operations, keys, box and place in the log', async () => {
    const { name, id } = await table()
    await world.bound(id)
    await script(`INSERT INTO $.${name} VALUES (1, ST_Point(6, 50, 4326)), (2, ST_Point(7, 51, 4326));
      UPDATE $.${name} SET geom = ST_Point(8, 40, 4326) WHERE id = 1; DELETE FROM $.${name} WHERE id = 2`)
    const [progress] = await world.toldOf(id)
    const { version, firstEventId, lastEventId, ...data } = progress?.data ?? {}
    assert.equal(progress?.type, 'dataset.changed')
    assert.deepEqual(data, {
      datasetId: id,
      operations: ['insert', 'update', 'delete'],
      rows: 4,
      keys: [1, 2],
      bbox: [6, 40, 8, 51],
    })
    assert.match(version, /^\d+\.\d+$/)
    assert.ok(lastEventId.endsWith(version))
    assert.notEqual(firstEventId, lastEventId)
    const client = await world.follow(id, { lastEventId: firstEventId })
    await client.first('change')
    assert.equal(client.lastId(), lastEventId, 'its ids are those of the change feed')
    client.close()
  })

  test('gets nothing twice and misses nothing between deliveries', async () => {
    const { name, id } = await table()
    const point = await world.bound(id)
    for (const n of [1, 2, 3]) {
      await script(`INSERT INTO $.${name} VALUES (${n})`)
      await world.toldOf(id, n)
      await ended(point)
    }
    assert.deepEqual(await keysOf(id, 3), [[1], [2], [3]])
  })

  test('is told only of the operations and the box that it asked for', async () => {
    const { name, id } = await table()
    await world.bound(id, { operations: ['delete'] })
    await script(`INSERT INTO $.${name} VALUES (1), (2)`)
    await script(`DELETE FROM $.${name} WHERE id = 2`)
    const [progress] = await world.toldOf(id)
    assert.deepEqual([progress?.data.operations, progress?.data.keys], [['delete'], [2]])
    const placed = await table()
    await world.bound(placed.id, { bbox: [170, -10, -170, 10] })
    for (const [n, lng] of [0, 175, 100, -175].entries()) {
      await script(`INSERT INTO $.${placed.name} VALUES (${n}, ST_Point(${lng}, 0, 4326))`)
    }
    assert.deepEqual((await keysOf(placed.id, 1)).flat(), [1, 3])
  })

  test('is told of rows beyond ±180 by where they are on the earth', async () => {
    const degrees = fc.noBias(fc.integer({ min: -5200, max: 5199 })).map((n) => n / 10 + 0.05)
    const [longitudes = []] = fc.sample(fc.array(degrees, { minLength: 60, maxLength: 60 }), {
      numRuns: 1,
      seed: Number(process.env.TEST_SEED ?? 1),
    })
    const { name, id } = await table()
    for (const [west, east] of [
      [170, -170],
      [-40, 60],
      [100, 20],
    ] as const) {
      await script(`DELETE FROM $.${name}`)
      const point = await world.bound(id, { bbox: [west, -10, east, 10], operations: ['insert'] })
      const before = world.told(id).length
      // The change log has one box for the rows of a statement.
      const insert = (longitude: number, n: number) =>
        `INSERT INTO $.${name} VALUES (${n}, ST_Point(${longitude}, 0, 4326))`
      await script(longitudes.map(insert).join(';'))
      const [progress] = (await world.toldOf(id, before + 1)).slice(before)
      const isInside = (longitude: number) => {
        const [lon, width] = [longitude - west, east - west].map((angle) => ((angle % 360) + 360) % 360)
        return (lon ?? 0) <= (width ?? 0)
      }
      const expected = longitudes.flatMap((longitude, n) => (isInside(longitude) ? [n] : []))
      assert.deepEqual(
        progress?.data.keys.toSorted((a: number, b: number) => a - b),
        expected,
        `${west} to ${east}`,
      )
      await world.call('DELETE', `contactpoints/${point}`)
    }
  })

  test('is told only of rows that match its filter now, and of every deletion', async () => {
    const { name, id } = await table('id text PRIMARY KEY, kind text, n int')
    await world.bound(id, { filter: { kind: 'a', n: { $gte: 5 } } })
    await script(`INSERT INTO $.${name} VALUES ('x,"1', 'a', 9), ('x2', 'b', 9), ('x3', 'a', 1)`)
    await script(`UPDATE $.${name} SET n = 7 WHERE id IN ('x2', 'x3')`)
    await script(`DELETE FROM $.${name} WHERE id = 'x2'`)
    const [progress] = await world.toldOf(id)
    assert.deepEqual(progress?.data.keys.toSorted(), ['x,"1', 'x2', 'x3'])
    assert.deepEqual(progress?.data.operations, ['insert', 'update', 'delete'])
    const other = await table('id int8 PRIMARY KEY, kind text')
    await world.bound(other.id, { filter: { kind: 'a' } })
    await script(`INSERT INTO $.${other.name} VALUES (1, 'b')`)
    await script(`INSERT INTO $.${other.name} VALUES (9007199254740993, 'a'), (2, 'b')`)
    const [next] = await world.toldOf(other.id)
    assert.deepEqual([next?.data.keys, next?.data.rows], [['9007199254740993'], 1])
  })

  test('gathers the changes of its debounce time, from the first one on', async () => {
    const { name, id } = await table()
    await world.bound(id, { debounceSeconds: 3600 })
    await script(`INSERT INTO $.${name} VALUES (1)`)
    await script(`INSERT INTO $.${name} VALUES (2)`)
    await world.turn()
    assert.deepEqual(world.told(id), [])
    await world.app.db.query(sql`UPDATE svc.change_log SET at = at - interval '1 hour'
      WHERE relation = ${`${world.schema}.${name}`}::regclass AND keys = '[1]'`)
    assert.deepEqual(await keysOf(id, 1), [[1, 2]])
  })

  test('gets no keys of more than 1 000 rows, and nothing of the rows of a table with row security', async () => {
    const { name, id } = await table()
    await world.bound(id)
    // In one transaction, or a turn in between tells of the first.
    await script(`INSERT INTO $.${name} SELECT g FROM generate_series(1, 600) g;
      INSERT INTO $.${name} SELECT g FROM generate_series(601, 1201) g`)
    const [{ data } = { data: {} }] = await world.toldOf(id)
    assert.deepEqual([data.rows, data.keys], [1201, null])
    const secured = await table()
    await script(`ALTER TABLE $.${secured.name} ENABLE ROW LEVEL SECURITY`)
    await world.bound(secured.id, { bbox: [0, 0, 1, 1] })
    await script(`INSERT INTO $.${secured.name} VALUES (1, ST_Point(6, 50, 4326))`)
    const [{ data: hidden } = { data: {} }] = await world.toldOf(secured.id)
    assert.deepEqual([hidden.rows, hidden.keys, hidden.bbox], [null, null, null])
  })
})

describe('a receiver that does not answer', () => {
  test('has one delivery at a time, and gets a reset ten minutes after that was given up', async () => {
    const { name, id } = await table()
    const other = await table()
    world.answer(503)
    const point = await world.bound(id)
    await script(`INSERT INTO $.${name} VALUES (1)`)
    await world.toldOf(id)
    await script(`INSERT INTO $.${name} VALUES (2)`)
    await world.turn()
    assert.equal((await world.call('GET', `contactpoints/${point}/deliveries`)).body.length, 1)
    world.answer(200)
    await world.bound(other.id)
    await script(`INSERT INTO $.${other.name} VALUES (3)`)
    assert.deepEqual(await keysOf(other.id, 1), [[3]], 'and holds up nobody else')
    const fail = (seconds: number) =>
      world.app.db.query(sql`UPDATE svc.deliveries SET status = 'failed', claim = NULL,
        next_at = clock_timestamp() - make_interval(secs => ${seconds}) WHERE contact_point_id = ${point}::uuid`)
    await fail(0)
    await world.turn()
    assert.equal(await isPending(point), false)
    await fail(601)
    const isReset = () => world.told(id).some(({ type }) => type === 'dataset.reset')
    await until(async () => {
      await world.turn()
      return isReset()
    })
    const reset = world.told(id).find(({ type }) => type === 'dataset.reset')
    assert.match(reset?.data.reason, /before this one failed/)
    await ended(point)
    await script(`INSERT INTO $.${name} VALUES (4)`)
    const count = world.told(id).length
    assert.deepEqual((await world.toldOf(id, count + 1)).at(-1)?.data.keys, [4])
  })
})

describe('a reset', () => {
  test('is told when the table was replaced, and when what was not yet told is no longer kept', async () => {
    const { name, id } = await table()
    const point = await world.bound(id)
    await world.turn()
    await script(`BEGIN; DROP TABLE $.${name}; CREATE TABLE $.${name} (id int PRIMARY KEY); COMMIT`)
    await world.app.db.query(
      sql`UPDATE svc.change_bindings SET check_at = clock_timestamp() WHERE contact_point_id = ${point}::uuid`,
    )
    const [first] = await world.toldOf(id)
    assert.deepEqual([first?.type, first?.data.datasetId], ['dataset.reset', id])
    assert.match(first?.data.reason, /replaced/)
    await ended(point)
    await script(`INSERT INTO $.${name} VALUES (1)`)
    assert.deepEqual((await world.toldOf(id, 2))[1]?.data.keys, [1])
    await ended(point)

    await world.app.db.query(sql`UPDATE svc.contactpoints SET enabled = false WHERE id = ${point}::uuid`)
    await script(`INSERT INTO $.${name} VALUES (2)`)
    await sweepLog(world.app.db)
    await script(`INSERT INTO $.${name} VALUES (3)`)
    await world.turn()
    assert.equal(world.told(id).length, 2, 'a disabled contact point is told nothing')
    await world.app.db.query(sql`UPDATE svc.contactpoints SET enabled = true WHERE id = ${point}::uuid`)
    const third = (await world.toldOf(id, 3))[2]
    assert.deepEqual(
      [third?.type, third?.data.reason],
      ['dataset.reset', 'The changes since the last delivery are no longer known.'],
    )
  })
})

describe('one binding', () => {
  test('that was changed or unbound while it was being told is told by its new definition, or not at all', async () => {
    const { app } = world
    const { deliveries, sources, slots } = app.services
    const { name, id } = await table()
    const point = await world.bound(id)
    await script(`INSERT INTO $.${name} VALUES (1)`)
    const claimed = async () => {
      let lease: Awaited<ReturnType<typeof claimWebhook>>
      await until(async () => {
        lease = await claimWebhook(app.db, [], 60)
        return lease?.datasetId === id && lease.isDue
      })
      assert.ok(lease)
      return lease
    }
    const tell = async (lease: Awaited<ReturnType<typeof claimed>>) =>
      tellChanges({ db: app.db, deliveries, sources, slots }, lease, new AbortController().signal)
    await app.db.query(sql`UPDATE svc.change_bindings SET check_at = 'infinity'`)
    const first = await claimed()
    assert.equal((await world.bind(point, [{ datasetId: id, operations: ['update', 'insert'] }])).status, 200)
    await tell(first)
    assert.equal((await world.call('GET', `contactpoints/${point}/deliveries`)).body.length, 0)
    const second = await claimed()
    assert.equal((await world.bind(point, [])).status, 200)
    await tell(second)
    assert.equal((await world.call('GET', `contactpoints/${point}/deliveries`)).body.length, 0)
  })

  test('loses nothing when the application may send no more messages for now', async () => {
    const { app } = world
    const { deliveries, ...context } = app.services
    const { name, id } = await table()
    const point = await world.bound(id)
    await script(`INSERT INTO $.${name} VALUES (1)`)
    const put = () => Promise.reject(overLimit('messagesWaiting', 0, 'The queue is full.'))
    const problem = async () =>
      (await world.call('GET', `contactpoints/${point}/bindings`)).body.bindings[0].problem as string | null
    await until(async () => {
      const lease = await claimWebhook(app.db, [], 60)
      if (lease)
        await tellChanges({ ...context, deliveries: { ...deliveries, put } }, lease, new AbortController().signal)
      return (await problem()) !== null
    })
    assert.equal(await problem(), 'The queue is full.')
    await app.db.query(
      sql`UPDATE svc.change_bindings SET next_at = clock_timestamp() WHERE contact_point_id = ${point}::uuid`,
    )
    assert.deepEqual(await keysOf(id, 1), [[1]])
    assert.equal(await problem(), null)
  })

  // The last one: these replicas work from now on.
  test('is told by one of two replicas, and every row once', async () => {
    const { name, id } = await table()
    const point = await world.bound(id)
    const replicas = [await world.app.replica(), await world.app.replica()]
    await Promise.all(replicas.map((one) => one.work()))
    for (let n = 0; n < 30; n++) await script(`INSERT INTO $.${name} VALUES (${n})`)
    const keys = () => world.told(id).flatMap(({ data }) => data.keys)
    await until(() => keys().length >= 30)
    await ended(point)
    assert.deepEqual(
      keys(),
      Array.from({ length: 30 }, (_, n) => n),
    )
  })
})
