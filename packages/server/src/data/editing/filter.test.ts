import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type EditWorld, editWorld } from '../../../testing/editing.ts'

let world: EditWorld
before(async () => {
  world = await editWorld(`
    CREATE TABLE places (id int PRIMARY KEY, name text, n int, geom geometry(Point, 4326));
    INSERT INTO places SELECT g, 'p' || g, g % 10, ST_Point(g, 1, 4326) FROM generate_series(1, 100) g;
    CREATE TABLE logs (line text);
    INSERT INTO logs VALUES ('a'), ('b')`)
})
after(() => world.close())

const change = async (method: string, query: string, body?: object, source = 'places') =>
  world.call(method, `${await world.pathOf(source)}?${query}`, body ? { body } : {})

describe('rows by a filter', () => {
  test('are changed and deleted if they are as many as expected', async () => {
    const changed = await change('PATCH', 'filter[n]=3&expect=10', { name: 'three' })
    assert.deepEqual([changed.status, changed.body], [200, { count: 10 }])
    assert.equal((await world.rows('places', 'filter[name]=three')).length, 10)
    const cql = `filter-lang=cql2-text&filter=${encodeURIComponent("name = 'three' AND id < 50")}&expect=5`
    assert.deepEqual((await change('DELETE', cql)).body, { count: 5 })
    const box = `filter=${encodeURIComponent('{"geom":{"$bbox":[0,0,2.5,2]}}')}&expect=2`
    assert.deepEqual((await change('DELETE', box)).body, { count: 2 })
    assert.equal(await world.count('places'), 93)
  })

  test('stay as they are if they are more or fewer, and the answer says how many they are', async () => {
    const before = await world.rows('places', 'sort=id')
    for (const [method, body] of [
      ['PATCH', { name: 'x' }],
      ['DELETE', undefined],
    ] as const) {
      const reply = await change(method, 'filter[n]=4&expect=9', body)
      assert.deepEqual([reply.status, reply.body.found, reply.body.expected], [409, 10, 9], reply.text)
      assert.match(reply.body.message, /matches 10 rows, and 9 were expected\. Nothing was changed/)
    }
    assert.deepEqual(await world.rows('places', 'sort=id'), before)
  })

  test('need a filter and a number, and no unknown parameter, attribute or column', async () => {
    const before = await world.count('places')
    const refused = [
      '',
      'expect=93',
      'filter[n]=4',
      'filter[n]=4&expect=-1',
      'filter[n]=4&expect=x',
      'filter[m]=4&expect=1',
    ]
    for (const query of [...refused, 'filter[n]=4&expect=10&limit=1', 'filter={&expect=1'])
      assert.equal((await change('DELETE', query)).status, 400, query)
    assert.equal((await change('PATCH', 'filter[n]=4&expect=10', { id: 5 })).status, 400)
    assert.equal((await change('PATCH', 'filter[n]=4&expect=10', { m: 5 })).status, 400)
    assert.equal(await world.count('places'), before)
  })

  test('of a table without a key can be all of them', async () => {
    assert.deepEqual((await change('DELETE', 'filter={}&expect=2', undefined, 'logs')).body, { count: 2 })
  })

  test('are at most as many as a request may change', async () => {
    const { status, body } = await change('DELETE', 'filter={}&expect=100001')
    const { code, limit, limitName } = body
    assert.deepEqual(
      { status, code, limit, limitName },
      { status: 413, code: 'too_many_rows', limit: 100_000, limitName: 'changedRows' },
    )
  })

  test('need a key that may also query, because their number tells something', async () => {
    const path = `${await world.pathOf('places')}?filter[n]=5&expect=0`
    for (const level of ['write', 'execute']) {
      const key = await world.app.key(world.tenant.id, { datasets: { [level]: '*' } })
      assert.equal((await world.app.call('DELETE', path, { key })).status, 401)
    }
    const other = await world.app.tenant('other')
    assert.equal((await world.app.call('DELETE', path, { key: other.developer })).status, 404)
  })
})
