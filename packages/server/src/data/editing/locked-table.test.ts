// One database is enough: the embedded one has a single session, so nobody else holds a lock there.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type EditWorld, editWorld } from '../../../testing/editing.ts'

let world: EditWorld
before(async () => {
  world = await editWorld(`
    CREATE TABLE held (id int PRIMARY KEY, a text, extra int, geom geometry(Point, 4326));
    INSERT INTO held VALUES (1, 'x', 2, ST_Point(1, 2, 4326))`)
})
after(() => world.close())

type Ask = readonly [method: string, path: string, body?: unknown]

async function requestsOf(source: string): Promise<Ask[]> {
  const id = await world.dataset(source)
  const own = `/api/v1/datasets/${id}`
  return [
    ['PATCH', own, {}],
    ['GET', `${own}/query`],
    ['GET', `${own}/query?filter[id]=1`],
    ['GET', `${own}/query?format=csv`],
    ['GET', `${own}/attributes/a/statistics`],
    ['GET', `${own}/rows/1`],
    ['GET', `/tiles/${id}/0/0/0.mvt?limit=7`],
    ['GET', `/ogc/collections/${id}/items`],
    ['POST', `${own}/rows`, { id: 2 }],
    ['PATCH', `${own}/rows/1`, { a: 'y' }],
    ['POST', `${own}/columns`, { name: 'more', type: 'string' }],
    ['DELETE', `${own}/columns/extra`],
  ]
}

const ask = async ([method, path, body]: Ask) => {
  const reply = await world.call(method, path, body === undefined ? {} : { body })
  return { name: `${method} ${path}`, ...reply }
}

/** What `work` answers while another session has locked a table. */
async function whileLocked<T>(table: string, work: () => Promise<T>): Promise<T> {
  const locked = Promise.withResolvers<void>()
  const enough = Promise.withResolvers<void>()
  const holding = world.app.db.transaction(async (tx) => {
    await tx.script(`LOCK TABLE ${world.schema}.${table} IN ACCESS EXCLUSIVE MODE`)
    locked.resolve()
    await enough.promise
  })
  await Promise.race([locked.promise, holding])
  const result = await work().finally(enough.resolve)
  await holding
  return result
}

test('whoever meets a table that is locked is told to try again, and never gets an internal error', async () => {
  const requests = await requestsOf('held')
  const replies = await whileLocked('held', () => Promise.all(requests.map(ask)))
  for (const { name, status, text, headers } of replies) {
    assert.ok(status === 503 || status === 409, `${name}: ${status} ${text}`)
    assert.match(text, /try again|in use/i, name)
    if (status === 503) assert.ok(Number(headers['retry-after']) >= 1, name)
  }
})

test('whoever reads by a record that is older than its table is told what helps', async () => {
  await world.script(
    'CREATE TABLE outrun (id int PRIMARY KEY, a text, geom geometry(Point, 4326)); INSERT INTO outrun VALUES (1)',
  )
  const requests = (await requestsOf('outrun')).filter(([method]) => method === 'GET')
  await world.script('ALTER TABLE outrun DROP COLUMN a')
  for (const { name, status, text } of await Promise.all(requests.map(ask))) {
    if (status === 200) continue
    assert.equal(status, 400, `${name}: ${text}`)
    assert.match(text, /POST \/datasets\/\{id\}\/refresh/, name)
  }
})

test('the usage of an application is answered while one of its tables is locked', async () => {
  const reply = await whileLocked('held', () => world.call('GET', '/api/v1/usage'))
  assert.equal(reply.status, 200, reply.text)
})
