import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type EditWorld, editWorld, faultsOf } from '../../../testing/editing.ts'
import { ident, sql } from '../../kernel/db/sql.ts'

let world: EditWorld
before(async () => {
  world = await editWorld('CREATE TABLE known (id int PRIMARY KEY)')
})
after(() => world.close())

const path = '/api/v1/datasets'
const create = (source: string, columns: unknown, more: object = {}) =>
  world.call('POST', path, { body: { type: 'table', name: 'Trees', source, columns, ...more } })

const isThere = async (table: string): Promise<boolean> => {
  const [row] = await world.app.db.query<{ found: boolean }>(
    sql`SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = ${world.schema} AND tablename = ${table}) AS found`,
  )
  return row?.found === true
}

const every = [
  { name: 'name', type: 'string', nullable: false, description: 'What it’s called' },
  { name: 'height', type: 'number', default: 1.5 },
  { name: 'count', dbType: 'integer' },
  { name: 'price', type: 'number', dbType: 'numeric(10,2)' },
  { name: 'code', dbType: 'character varying(5)', default: `a'\\` },
  ...['boolean', 'date', 'datetime', 'time', 'uuid', 'json', 'array', 'binary'].map((type) => ({
    name: `a_${type}`,
    type,
  })),
  { name: 'geom', type: 'geometry', geometryType: 'Point', srid: 3857, dimension: 3 },
]

describe('a dataset with columns', () => {
  test('makes its table with key, spatial index and trigger, which is written to and drawn at once', async () => {
    const reply = await create('trees', every)
    assert.equal(reply.status, 201, reply.text)
    const { id, attributes } = reply.body
    await world.call('PATCH', `${path}/${id}`, { body: { description: 'inspected again' } })
    const inspected = (await world.call('GET', `${path}/${id}`)).body.attributes
    assert.deepEqual(attributes, inspected, 'what was told is what is there')
    assert.deepEqual([attributes[0].name, attributes[0].primaryKey, attributes[0].dbType], ['id', true, 'bigint'])
    const facts = await world.app.db.query<{ definition: string }>(sql`
      SELECT indexdef AS definition FROM pg_indexes WHERE schemaname = ${world.schema} AND tablename = 'trees'
      UNION ALL SELECT tgname::text FROM pg_trigger WHERE tgrelid = ${`${world.schema}.trees`}::regclass ORDER BY 1`)
    const text = facts.map(({ definition }) => definition).join('\n')
    assert.match(text, /gist \(geom\)/)
    assert.match(text, /svc_note_change/)
    const point = { type: 'Point', coordinates: [1, 2, 3] }
    const row = await world.call('POST', `${path}/${id}/rows`, { body: { name: 'oak', geom: point } })
    assert.deepEqual([row.status, row.body.id, row.body.height, row.body.code], [201, 1, 1.5, `a'\\`], row.text)
    const tile = await world.app.http.inject({
      url: `/tiles/${id}/0/0/0.mvt`,
      headers: { 'x-api-key': world.tenant.public },
    })
    assert.equal(tile.statusCode, 200)
  })

  test('has the key that it is given: texts, numbers and UUIDs, or several', async () => {
    const text = await create('by_text', [{ name: 'code', type: 'string', primaryKey: true }])
    assert.equal(text.status, 201, text.text)
    const uuid = await create('by_uuid', [
      { name: 'key', type: 'uuid', primaryKey: true },
      { name: 'n', type: 'integer' },
    ])
    const made = await world.call('POST', `${path}/${uuid.body.id}/rows`, { body: { n: 1 } })
    assert.match(made.body.key, /^[\da-f-]{36}$/)
    const pair = await create('by_two', [
      { name: 'a', type: 'integer', primaryKey: true },
      { name: 'b', type: 'integer', primaryKey: true },
    ])
    const row = await world.call('POST', `${path}/${pair.body.id}/rows`, { body: { a: 1, b: 2 } })
    assert.match(String(row.headers.location), /\/rows\/1,2$/)
  })

  test('is deleted with its table, or without it', async () => {
    for (const [keepData, left] of [
      ['', false],
      ['?keepData=true', true],
    ] as const) {
      const { body } = await create('short_lived', [{ name: 'a', type: 'string' }])
      assert.equal((await world.call('DELETE', `${path}/${body.id}${keepData}`)).status, 200)
      assert.equal(await isThere('short_lived'), left)
    }
  })

  test('is refused with what to do, and leaves no table', async () => {
    const column = { name: 'a', type: 'string' }
    assert.deepEqual([(await create('known', [column])).status], [409])
    const refused: [source: string, columns: unknown, more?: object][] = [
      ['x', []],
      ['x', [{ name: 'a' }]],
      ['x', [{ name: 'a', type: 'colour' }]],
      ['x', [{ name: 'a', dbType: 'int; DROP TABLE known' }]],
      ['x', [{ name: 'a', dbType: 'regclass' }]],
      ['x', [{ name: 'a', type: 'string', dbType: 'integer' }]],
      ['x', [{ name: 'xmin', type: 'string' }]],
      ['x', [{ name: 'svc_a', type: 'string' }]],
      ['x', [{ name: 'ä'.repeat(40), type: 'string' }]],
      ['x', [column, column]],
      ['x', [{ name: 'id', type: 'string' }]],
      ['x', [{ name: 'g', type: 'geometry', primaryKey: true }]],
      ['x', [{ ...column, srid: 4326 }]],
      ['x', [{ name: 'n', type: 'integer', default: 'x' }]],
      ['x', [{ ...column, extra: 1 }]],
      ['x', [{ name: 'g', type: 'geometry', srid: 12345 }]],
      ['svc_x', [column]],
      ['other.x', [column]],
      ['x"; --', [column]],
      ['x', [column], { type: 'sql' }],
      ['x', [column], { databaseId: '00000000-0000-4000-8000-000000000000' }],
    ]
    for (const [source, columns, more] of refused) {
      const reply = await create(source, columns, more)
      assert.equal(reply.status, 400, `${JSON.stringify([source, columns, more])} ${reply.text}`)
      assert.ok(faultsOf(reply).length > 0)
    }
    assert.equal(await isThere('x'), false)
    const key = await world.app.key(world.tenant.id, { datasets: { write: [await world.dataset('known')] } })
    const listed = await world.app.call('POST', path, {
      key,
      body: { type: 'table', name: 'a', source: 'y', columns: [column] },
    })
    assert.equal(listed.status, 401)
  })
})

describe('columns', () => {
  test('are added and dropped, and the dataset shows them at once', async () => {
    const { body } = await create('grown', [{ name: 'a', type: 'string' }])
    const columns = `${path}/${body.id}/columns`
    await world.call('POST', `${path}/${body.id}/rows`, { body: { a: 'x' } })
    const added = await world.call('POST', columns, {
      body: { name: 'n', type: 'integer', nullable: false, default: 7 },
    })
    assert.deepEqual([added.status, added.body.attributes.at(-1).name], [201, 'n'], added.text)
    assert.deepEqual((await world.call('GET', `${path}/${body.id}/query`)).body, [{ id: 1, a: 'x', n: 7 }])
    assert.equal((await world.call('POST', columns, { body: { name: 'place', type: 'geometry' } })).status, 201)
    assert.equal((await world.call('POST', columns, { body: { name: 'n', type: 'string' } })).status, 409)
    const empty = await world.call('POST', columns, { body: { name: 'm', type: 'string', nullable: false } })
    assert.deepEqual([empty.status, /give a default/.test(empty.text)], [409, true])
    assert.equal((await world.call('DELETE', `${columns}/a`)).status, 200)
    assert.deepEqual((await world.call('GET', `${path}/${body.id}/query`)).body, [{ id: 1, n: 7, place: null }])
    assert.equal((await world.call('DELETE', `${columns}/id`)).status, 409)
    const misspelt = await world.call('DELETE', `${columns}/plac`)
    assert.deepEqual([misspelt.status, /Did you mean "place"/.test(misspelt.body.message)], [404, true])
    await world.script(`CREATE VIEW viewed AS SELECT n FROM grown`)
    assert.match((await world.call('DELETE', `${columns}/n`)).body.message, /depend on the column/)
    const [entry] = await world.app.db.query<{ changed: string[] }>(
      sql`SELECT changed FROM svc.audit WHERE request_id = ${String(added.headers['x-request-id'])}`,
    )
    assert.deepEqual(entry?.changed, ['n'])
    await world.app.db.query(sql`DROP VIEW ${ident(world.schema, 'viewed')}`)
  })

  test('that are added or dropped through one dataset are so in every dataset of the same table, and in no other', async () => {
    const { body } = await create('shared', [{ name: 'a', type: 'string' }])
    await world.script('CREATE TABLE shared_too (id int PRIMARY KEY, a text)')
    const dataset = async (source: string): Promise<string> =>
      (await world.call('POST', path, { body: { type: 'table', name: source, source } })).body.id
    const twins = [body.id, await dataset('shared'), await dataset(`"${world.schema}"."shared"`)]
    const others = [await dataset('shared_too')]
    const namesOf = async (id: string) => {
      const reply = await world.call('GET', `${path}/${id}`)
      return reply.body.attributes.map(({ name }: { name: string }) => name).join()
    }
    await world.call('POST', `${path}/${twins[1]}/columns`, { body: { name: 'b', type: 'geometry' } })
    assert.deepEqual(await Promise.all([...twins, ...others].map(namesOf)), ['id,a,b', 'id,a,b', 'id,a,b', 'id,a'])
    assert.equal((await world.call('DELETE', `${path}/${twins[2]}/columns/a`)).status, 200)
    assert.deepEqual(await Promise.all([...twins, ...others].map(namesOf)), ['id,b', 'id,b', 'id,b', 'id,a'])
    const row = await world.call('POST', `${path}/${twins[0]}/rows`, { body: { b: null } })
    assert.deepEqual([row.status, row.body], [201, { id: 1, b: null }], 'it is queried by its new columns at once')
  })
})
