import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type EditWorld, editWorld, faultsOf } from '../../../testing/editing.ts'
import { sql } from '../../kernel/db/sql.ts'

let world: EditWorld
before(async () => {
  world = await editWorld('CREATE TABLE known (id int PRIMARY KEY)')
})
after(() => world.close())

const path = '/api/v1/datasets'

type Attribute = Readonly<Record<string, unknown>> & { readonly name: string }

async function makeTable(source: string, columns: object[], rows: object[] = []): Promise<string> {
  const { status, body, text } = await world.call('POST', path, {
    body: { type: 'table', name: source, source, columns },
  })
  assert.equal(status, 201, text)
  if (rows.length > 0) assert.equal((await world.call('POST', `${path}/${body.id}/rows`, { body: rows })).status, 201)
  return body.id
}

const change = (id: string, column: string, body: object, query = '') =>
  world.call('PATCH', `${path}/${id}/columns/${column}${query}`, { body })
const conversion = (id: string, column: string, query: string) =>
  world.call('GET', `${path}/${id}/columns/${column}/conversion?${query}`)
const rowsOf = async (id: string) => (await world.call('GET', `${path}/${id}/query?sort=id`)).body
const attribute = (reply: { body: { attributes: Attribute[] } }, name: string) =>
  reply.body.attributes.find((one) => one.name === name)

describe('attributes of a table', () => {
  test('say what the database gives: defaults, counted keys, and values that only it may give', async () => {
    const id = await makeTable('given', [
      { name: 'height', type: 'number', default: 1.5, nullable: false },
      { name: 'code', dbType: 'character varying(5)', default: 'a' },
      { name: 'plain', type: 'string' },
    ])
    const shown = async () => (await world.call('GET', `${path}/${id}`)).body.attributes.map(defaultsOf)
    const expected = [
      ['id', undefined, 'byDefault'],
      ['height', `'1.5'::double precision`, undefined],
      ['code', `'a'::character varying(5)`, undefined],
      ['plain', undefined, undefined],
    ]
    assert.deepEqual(await shown(), expected)
    await world.script(`ALTER TABLE given ADD COLUMN twice double precision GENERATED ALWAYS AS (height * 2) STORED;
      ALTER TABLE given ADD COLUMN serial bigint GENERATED ALWAYS AS IDENTITY`)
    await world.call('PATCH', `${path}/${id}`, { body: { source: 'given' } })
    await world.call('PATCH', `${path}/${id}`, { body: { description: 'inspected again' } })
    const again = (await shown()).slice(4)
    assert.deepEqual(again.map(([name, , generated]: unknown[]) => [name, generated]), [['twice', 'always'], ['serial', 'always']]) // biome-ignore format: one line
    assert.match(again[0][1], /height \* /)
  })
})

const defaultsOf = ({ name, default: preset, generated }: Attribute) => [name, preset, generated]

describe('a column', () => {
  test('is renamed, described, required and given a default, and every dataset of the table shows it at once', async () => {
    const id = await makeTable('renamed', [{ name: 'height', type: 'number' }], [{ height: 2 }, { height: null }])
    const twin = (await world.call('POST', path, { body: { type: 'table', name: 'twin', source: 'renamed' } })).body.id
    const required = await change(id, 'height', { nullable: false })
    assert.deepEqual([required.status, /give a default, or allow null/.test(required.text)], [409, true])
    const reply = await change(id, 'height', { name: 'height_m', description: `In metres, it's so`, default: 7 })
    assert.equal(reply.status, 200, reply.text)
    const facts = { name: 'height_m', type: 'number', nullable: true, description: `In metres, it's so` }
    assert.partialDeepStrictEqual(attribute(reply, 'height_m'), { ...facts, default: `'7'::double precision` })
    assert.deepEqual((await world.call('GET', `${path}/${twin}`)).body.attributes, reply.body.attributes)
    assert.deepEqual(await rowsOf(twin), [{ id: 1, height_m: 2 }, { id: 2, height_m: null }]) // biome-ignore format: one line
    const added = await world.call('POST', `${path}/${id}/rows`, { body: [{}, { id: 9 }].slice(1) })
    assert.equal(added.status, 201, added.text)
    assert.equal((await rowsOf(id)).at(-1).height_m, 7)
    const plain = await change(id, 'height_m', { default: null, description: '' })
    assert.deepEqual(
      [attribute(plain, 'height_m')?.default, attribute(plain, 'height_m')?.description],
      [undefined, ''],
    )
    const [entry] = await world.app.db.query<{ changed: string[] }>(
      sql`SELECT changed FROM svc.audit WHERE request_id = ${String(reply.headers['x-request-id'])}`,
    )
    assert.deepEqual(entry?.changed, ['height'])
    const key = await change(id, 'id', { name: 'number' })
    assert.deepEqual([attribute(key, 'number')?.primaryKey, attribute(key, 'number')?.generated], [true, 'byDefault'])
    assert.equal((await world.call('GET', `${path}/${id}/rows/9`)).body.number, 9)
  })

  test('keeps its place in metadata.time of every dataset of the table by its new name', async () => {
    const columns = [
      { name: 'seen', type: 'date' },
      { name: 'gone', type: 'date' },
    ]
    const id = await makeTable('timed', columns, [{ seen: '2024-01-05', gone: '2024-02-01' }])
    const timed = async (name: string, time: unknown) => {
      const { body } = await world.call('POST', path, {
        body: { type: 'table', name, source: 'timed', metadata: { time, kept: 1 } },
      })
      return body.id
    }
    const [instant, period, other] = [
      await timed('instant', 'seen'),
      await timed('period', { start: 'seen', end: 'gone' }),
      await timed('other', 'gone'),
    ]
    assert.equal((await change(id, 'seen', { name: 'begun' })).status, 200)
    const metadataOf = async (one: string) => (await world.call('GET', `${path}/${one}`)).body.metadata
    assert.deepEqual(await metadataOf(instant), { time: 'begun', kept: 1 })
    assert.deepEqual(await metadataOf(period), { time: { start: 'begun', end: 'gone' }, kept: 1 })
    assert.deepEqual(await metadataOf(other), { time: 'gone', kept: 1 })
    const { body } = await world.call('GET', `${path}/${period}/query?time=2024-01-20`)
    assert.equal(body.length, 1)
  })

  test('gets another type, whose values are those that convert; what would be lost is told before, and refused unless it is meant', async () => {
    const texts = ['12', ' 7 ', '1.5', 'many', '']
    const id = await makeTable('retyped', [{ name: 'n', type: 'string', default: '0' }], texts.map((n) => ({ n }))) // biome-ignore format: one line
    const told = await conversion(id, 'n', 'type=integer')
    assert.deepEqual(told.body, {
      values: 5,
      lost: 2,
      changed: 1,
      examples: [{ from: '1.5', to: null }, { from: 'many', to: null }, { from: ' 7 ', to: '7' }],
      dropsDefault: true,
    }, told.text) // biome-ignore format: a table
    const refused = await change(id, 'n', { type: 'integer' })
    assert.equal(refused.status, 409)
    assert.match(
      refused.body.message,
      /^2 of 5 values cannot be converted to bigint, such as "1\.5"\. Nothing was changed/,
    )
    assert.equal(refused.body.lost, 2)
    const reply = await change(id, 'n', { type: 'integer', default: 3 }, '?onLoss=null')
    assert.partialDeepStrictEqual(attribute(reply, 'n'), { type: 'integer', dbType: 'bigint', default: `'3'::bigint` })
    assert.deepEqual((await rowsOf(id)).map(({ n }: { n: unknown }) => n), [12, 7, null, null, null]) // biome-ignore format: one line
    const written = await world.call('POST', `${path}/${id}/rows`, { body: { n: 5 } })
    assert.equal(written.status, 201, 'it is written to by its new type at once')
  })

  test('is converted between all types of single values as PostgreSQL reads them', async () => {
    const cases: [from: object, value: unknown, to: string, now: unknown][] = [
      [{ type: 'number' }, 2.0, 'dbType=integer', 2],
      [{ dbType: 'numeric(8,2)' }, 3, 'type=integer', 3],
      [{ type: 'integer' }, 4, 'type=string', '4'],
      [{ type: 'integer' }, 1, 'type=boolean', true],
      [{ type: 'string' }, '12.345', 'dbType=numeric(4,2)', 12.35],
      [{ type: 'string' }, '123.4', 'dbType=numeric(4,2)', null],
      [{ type: 'string' }, 'abcdef', 'dbType=character varying(5)', null],
      [{ type: 'string' }, '2027-02-31', 'type=date', null],
      [{ type: 'string' }, '2027-01-31', 'type=date', '2027-01-31'],
      [{ type: 'datetime' }, '2027-01-31T12:00:00Z', 'type=date', '2027-01-31'],
      [{ type: 'string' }, '{"a": 1}', 'type=json', { a: 1 }],
      [{ type: 'json' }, { a: 1 }, 'type=string', '{"a": 1}'],
    ] // biome-ignore format: a table
    for (const [index, [column, value, to, now]] of cases.entries()) {
      const id = await makeTable(`case_${index}`, [{ name: 'v', ...column }], [{ v: value }])
      const [name = '', type = ''] = to.split('=')
      const reply = await change(id, 'v', { [name]: type }, '?onLoss=null')
      assert.equal(reply.status, 200, `${JSON.stringify(column)} to ${to}: ${reply.text}`)
      assert.equal(JSON.stringify((await rowsOf(id))[0].v), JSON.stringify(now), `${JSON.stringify(column)} to ${to}`)
    }
  })

  test('keeps its type where rows are addressed by it, views read it, or its values cannot be converted', async () => {
    const id = await makeTable('kept', [
      { name: 'place', type: 'geometry' },
      { name: 'tags', type: 'array' },
      { name: 'n', type: 'integer' },
    ])
    const refused = [
      [{ column: 'id', type: 'string' }, 409, /primary key/],
      [{ column: 'place', type: 'string' }, 409, /geometry cannot be converted to string/],
      [{ column: 'tags', type: 'integer' }, 409, /array cannot be converted/],
      [{ column: 'n', type: 'geometry' }, 409, /integer cannot be converted to geometry/],
      [{ column: 'n', type: 'number', dbType: 'text' }, 400, /dbType/],
      [{ column: 'n', dbType: 'regclass' }, 400, /dbType/],
      [{ column: 'n', name: 'xmin' }, 400, /reserved/],
      [{ column: 'n', name: 'tags' }, 409, /of this name already/],
      [{ column: 'n', default: 'many' }, 400, /default/],
      [{ column: 'id', nullable: true }, 400, /nullable/],
      [{ column: 'id', default: 7 }, 400, /default/],
      [{ column: 'm', name: 'x' }, 404, /column/],
      [{ column: 'n' }, 400, /body/],
    ] as const
    for (const [{ column, ...body }, status, words] of refused) {
      const reply = await change(id, column, body)
      assert.deepEqual(
        [reply.status, words.test(reply.text)],
        [status, true],
        `${JSON.stringify([column, body])} ${reply.text}`,
      )
    }
    await world.script('CREATE VIEW read_it AS SELECT n FROM kept')
    assert.match((await change(id, 'n', { type: 'string' })).body.message, /depend on the column/)
    await world.script('DROP VIEW read_it')
    assert.equal(faultsOf(await change(id, 'n', { name: '' })).length, 1)
    const key = await world.app.key(world.tenant.id, { datasets: { write: '*' } })
    const untold = await world.app.call('GET', `${path}/${id}/columns/n/conversion?type=string`, { key })
    assert.equal(untold.status, 401, 'values are told to those who may query')
  })
})
