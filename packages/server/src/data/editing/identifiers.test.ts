import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type EditWorld, editWorld, faultsOf } from '../../../testing/editing.ts'
import { sql } from '../../kernel/db/sql.ts'

const path = '/api/v1/datasets'
const known = 'k'.repeat(63)

let world: EditWorld
before(async () => {
  world = await editWorld(`CREATE TABLE ${known} (id int PRIMARY KEY, a text)`)
})
after(() => world.close())

const create = (source: string, columns?: object[]) =>
  world.call('POST', path, { body: { type: 'table', name: 'long', source, ...(columns && { columns }) } })
const tables = async () =>
  (
    await world.app.db.query<{ name: string }>(sql`
      SELECT c.relname::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ${world.schema} AND c.relkind = 'r' ORDER BY 1`)
  ).map(({ name }) => name)

/** Names of 63 bytes at most, and the same with one letter more. */
const letters = { a: 63, ä: 31, 漢: 21, 𠮷: 15 }
const column = { name: 'a', type: 'string' }

describe('the name of a table', () => {
  for (const [letter, most] of Object.entries(letters))
    test(`has ${most} letters such as ${letter}, and one more is refused with the limit`, async () => {
      const before = await tables()
      const refused = await create(letter.repeat(most + 1), [column])
      assert.equal(refused.status, 400)
      assert.match(faultsOf(refused)[0] ?? '', /^body\/source: must have at most 63 bytes/)
      assert.deepEqual(await tables(), before)
      const name = letter.repeat(most)
      const made = await create(name, [column, { name: 'place', type: 'geometry' }])
      assert.deepEqual([made.status, made.body.source], [201, name], made.text)
      assert.ok((await tables()).includes(name))
      const row = await world.call('POST', `${path}/${made.body.id}/rows`, { body: { a: 'x' } })
      assert.equal(row.status, 201, row.text)
      assert.equal((await world.call('GET', `${path}/${made.body.id}/query`)).body.length, 1)
    })

  test('that is longer than one that exists is not that table, which the database would take it for', async () => {
    assert.equal((await create(known)).status, 201)
    for (const source of [`${known}k`, `${known}_and_more`, `"${known}k"`, `${world.schema}.${known}k`]) {
      const reply = await create(source)
      assert.equal(reply.status, 400, source)
      assert.match(faultsOf(reply)[0] ?? '', /no table .* at most 63 bytes/)
    }
  })
})

describe('the name of a column', () => {
  for (const [letter, most] of Object.entries({ ...letters, '😀': 15 }))
    test(`has ${most} letters such as ${letter}, and one more is refused with the limit`, async () => {
      const id = await world.dataset(known)
      const add = (name: string) => world.call('POST', `${path}/${id}/columns`, { body: { name, type: 'string' } })
      const refused = await add(letter.repeat(most + 1))
      assert.deepEqual([refused.status, faultsOf(refused).length], [400, 1])
      assert.match(faultsOf(refused)[0] ?? '', /^body\/name: must .*63/)
      const name = letter.repeat(most)
      const added = await add(name)
      assert.equal(added.status, 201, added.text)
      assert.ok(added.body.attributes.some((attribute: { name: string }) => attribute.name === name))
      const key = 1_000 + most + letter.charCodeAt(0)
      const row = await world.insert(known, { id: key, [name]: 'value' })
      assert.deepEqual([row.status, row.body[name]], [201, 'value'], row.text)
      const asked = new URLSearchParams({ attributes: `${name} as ${'x'.repeat(64)}` })
      const alias = await world.call('GET', `${path}/${id}/query?${asked}`)
      assert.match(alias.text, /at most 63 bytes/)
      assert.equal((await world.call('DELETE', `${path}/${id}/columns/${encodeURIComponent(name)}`)).status, 200)
    })

  for (const letter of ['ä', '漢'])
    test(`that an attribute is renamed to has 63 bytes of ${letter}, too`, async () => {
      const id = await world.dataset(known)
      const ask = (name: string) =>
        world.call('GET', `${path}/${id}/query?${new URLSearchParams({ attributes: `a as ${name}`, limit: '1' })}`)
      assert.equal((await ask(letter.repeat(21))).status, 200)
      assert.equal((await ask(letter.repeat(32))).status, 400)
    })
})
