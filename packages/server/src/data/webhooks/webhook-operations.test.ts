import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { type WebhookWorld, webhookWorld } from '../../../testing/webhook-world.ts'
import { sql } from '../../kernel/db/sql.ts'

// One database is enough: webhooks.test.ts writes and reads webhooks on both.
let world: WebhookWorld
before(async () => {
  world = await webhookWorld()
})
after(() => world.close())

const table = (columns?: string) => world.table(columns)
const shown = async (id: string) => (await world.call('GET', `contactpoints/${id}/bindings`)).body.bindings

test('bindings are shown with their defaults, and stay where they are when the list is written again', async () => {
  const { id: datasetId } = await table()
  const id = await world.point()
  assert.deepEqual(await shown(id), [])
  const made = await world.bind(id, [{ datasetId }])
  const [{ lastEventId, ...rest }] = made.body.bindings
  assert.deepEqual(rest, {
    datasetId,
    operations: ['insert', 'update', 'delete', 'truncate'],
    filter: null,
    bbox: null,
    debounceSeconds: 0,
    problem: null,
  })
  const same = await world.bind(id, made.body.bindings)
  assert.deepEqual([same.status, same.body], [200, made.body], 'what was read can be written')
  const changed = await world.bind(id, [{ datasetId, debounceSeconds: 5, operations: ['delete'] }])
  assert.equal(changed.body.bindings[0].lastEventId, lastEventId)
  assert.deepEqual(changed.body.bindings[0].operations, ['delete'])
  assert.deepEqual((await world.bind(id, [])).body, { bindings: [] })
})

test('what cannot be bound is refused with its place, and changes nothing', async () => {
  const { id: datasetId } = await table()
  const wide = await table('a int, b int, PRIMARY KEY (a, b)')
  await world.script('CREATE VIEW $.shown AS SELECT 1 AS id')
  const view = await world.dataset('shown')
  const foreign = await world.app.tenant('foreign')
  const id = await world.bound(datasetId)
  const before = await shown(id)
  const cases: [readonly object[], number, RegExp][] = [
    [[{ datasetId }, { datasetId: datasetId.toUpperCase() }], 400, /body\/bindings\/1\/datasetId/],
    [[{ datasetId: randomUUID() }], 400, /body\/bindings\/0\/datasetId.*same application/],
    [[{ datasetId, filter: { idd: 1 } }], 400, /body\/bindings\/0\/filter\/idd/],
    [[{ datasetId: wide.id, filter: { a: 1 } }], 400, /body\/bindings\/0\/filter.*primary key/],
    [[{ datasetId, bbox: [0, 10, 1, 5] }], 400, /body\/bindings\/0\/bbox/],
    [[{ datasetId, debounceSeconds: 3601 }], 400, /debounceSeconds/],
    [[{ datasetId, operations: [] }], 400, /operations/],
    [[{ datasetId: view }], 409, /view or a foreign table/],
    [Array.from({ length: 21 }, () => ({ datasetId: randomUUID() })), 400, /body\/bindings.*20/],
  ]
  for (const [bindings, status, pattern] of cases) {
    const reply = await world.bind(id, bindings)
    assert.equal(reply.status, status, reply.text)
    assert.match(reply.text, pattern)
  }
  assert.equal((await world.bind(id, [{ datasetId }], foreign.developer)).status, 404)
  assert.deepEqual(await shown(id), before)
  const mail = await world.point({ type: 'email', settings: { addresses: ['a@example.org'] } })
  const refused = await world.bind(mail, [{ datasetId }])
  assert.deepEqual([refused.status, /only webhooks/.test(refused.text)], [409, true])
})

test('a master key binds no dataset of another application', async () => {
  const { id: datasetId } = await table()
  const foreign = await world.app.tenant('foreign')
  const settings = { url: `${world.sink.url}/foreign` }
  const { body } = await world.app.call('POST', '/api/v1/contactpoints', {
    key: foreign.developer,
    body: { name: 'hook', type: 'webhook', settings },
  })
  const reply = await world.bind(body.id, [{ datasetId }], world.app.master)
  assert.deepEqual([reply.status, /same application/.test(reply.text)], [400, true])
})

test('who binds needs write on the contact point and execute on the dataset, but nothing for what stays', async () => {
  const own = await table()
  const other = await table()
  const id = await world.point()
  const key = await world.app.key(world.tenant.id, {
    contactpoints: { write: [id] },
    datasets: { execute: [own.id], read: '*' },
  })
  assert.equal((await world.bind(id, [{ datasetId: other.id }], key)).status, 401)
  assert.equal((await world.bind(id, [{ datasetId: other.id }])).status, 200)
  assert.equal((await world.bind(id, [{ datasetId: own.id }, { datasetId: other.id }], key)).status, 200)
  const changed = await world.bind(id, [{ datasetId: own.id }, { datasetId: other.id, debounceSeconds: 1 }], key)
  assert.equal(changed.status, 401)
  const reader = await world.app.key(world.tenant.id, {
    contactpoints: { read: '*', execute: '*' },
    datasets: { '*': '*' },
  })
  assert.equal((await world.bind(id, [], reader)).status, 401)
})

test('changes of a dataset cannot be sent elsewhere by a key that could not bind it', async () => {
  const own = await table()
  const other = await table()
  const id = await world.point()
  await world.bind(id, [{ datasetId: own.id }, { datasetId: other.id }])
  const key = await world.app.key(world.tenant.id, {
    contactpoints: { read: '*', write: '*' },
    datasets: { read: '*', execute: [own.id] },
  })
  const change = (body: object, by = key) => world.call('PATCH', `contactpoints/${id}`, { key: by, body })
  const before = (await world.call('GET', `contactpoints/${id}`)).body
  const refused = [
    { settings: { url: `${world.sink.url}/elsewhere` } },
    { settings: { ...before.settings, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' } },
    { type: 'slack', settings: { url: `${world.sink.url}/elsewhere` } },
  ]
  for (const body of refused) {
    const reply = await change(body)
    assert.deepEqual([reply.status, /execute access to each/.test(reply.text)], [401, true], reply.text)
  }
  assert.deepEqual((await world.call('GET', `contactpoints/${id}`)).body, before)
  const { name, type, settings } = before
  assert.equal((await change({ name: 'Renamed', enabled: true, settings })).status, 200, 'what stays needs no right')
  const put = await world.call('PUT', `contactpoints/${id}`, { key, body: { name, type, settings } })
  assert.equal(put.status, 200, put.text)
  const wider = await world.app.key(world.tenant.id, {
    contactpoints: { read: '*', write: '*' },
    datasets: { execute: [own.id, other.id] },
  })
  assert.equal((await change({ settings: { url: `${world.sink.url}/moved` } }, wider)).status, 200)
  await world.bind(id, [])
  assert.equal((await change({ settings: { url: `${world.sink.url}/unbound` } })).status, 200)
})

test('a binding goes with its dataset and with its contact point', async () => {
  const own = await table()
  const other = await table()
  const id = await world.point()
  await world.bind(id, [{ datasetId: own.id }, { datasetId: other.id }])
  assert.equal((await world.call('DELETE', `datasets/${own.id}`)).status, 200)
  assert.deepEqual(
    (await shown(id)).map(({ datasetId }: { datasetId: string }) => datasetId),
    [other.id],
  )
  assert.equal((await world.call('DELETE', `contactpoints/${id}`)).status, 200)
  const rows = await world.app.db.query(sql`SELECT FROM svc.change_bindings WHERE contact_point_id = ${id}::uuid`)
  assert.equal(rows.length, 0)
})

test('a binding says why changes are not told when its table is gone, and goes on with a reset when it is back', async () => {
  const { name, id: datasetId } = await table()
  const id = await world.bound(datasetId)
  await world.script(`DROP TABLE $.${name}`)
  const due = () =>
    world.app.db.query(sql`UPDATE svc.change_bindings SET next_at = clock_timestamp(), check_at = clock_timestamp()
      WHERE contact_point_id = ${id}::uuid`)
  await due()
  await world.turn()
  assert.match((await shown(id))[0].problem, /does not exist/)
  await world.script(`CREATE TABLE $.${name} (id int PRIMARY KEY)`)
  await due()
  assert.equal((await world.toldOf(datasetId))[0]?.type, 'dataset.reset')
  assert.equal((await shown(id))[0].problem, null)
})

test('a contact point, and an application with all of its own, have no more bindings than their limits', async () => {
  const limitOf = ({ body }: { body: Record<string, unknown> }) => ({ limit: body.limit, limitName: body.limitName })
  const { id: datasetId } = await table()
  const id = await world.point()
  const many = await world.bind(
    id,
    Array.from({ length: 21 }, () => ({ datasetId: randomUUID() })),
  )
  assert.deepEqual([many.status, many.body.code], [400, 'invalid_request'])
  assert.deepEqual(limitOf(many), { limit: 20, limitName: 'contactPointBindings' })

  await world.app.db.query(sql`
    WITH points AS (
      INSERT INTO svc.contactpoints SELECT (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid()))).*
      FROM svc.contactpoints p, generate_series(1, 1000) WHERE p.id = ${id}::uuid RETURNING id)
    INSERT INTO svc.change_bindings (id, contact_point_id, dataset_id, operations, debounce_seconds, era, xid, seq, relations, check_at)
    SELECT gen_random_uuid(), p.id, ${datasetId}::uuid, '{}', 0, '', '0', 0, '{}', 'infinity' FROM points p`)
  const one = await world.bind(id, [{ datasetId }])
  assert.deepEqual([one.status, one.body.code], [409, 'conflict'])
  assert.deepEqual(limitOf(one), { limit: 1_000, limitName: 'bindings' })
  assert.deepEqual(await shown(id), [])
  await world.app.db.query(sql`DELETE FROM svc.change_bindings WHERE era = ''`)
  assert.equal((await world.bind(id, [{ datasetId }])).status, 200)
})
