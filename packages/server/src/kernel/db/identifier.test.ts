import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestDatabase, testDatabase } from '../../../testing/database.ts'
import { cutIdentifier, fitsIdentifier } from './identifier.ts'
import { ident, sql } from './sql.ts'

let database: TestDatabase
before(async () => {
  database = await testDatabase()
})
after(() => database.close())

const letters = ['a', 'ä', '漢', '𠮷', '😀']

test('a name is cut as the database cuts it, at the boundary of a character', async () => {
  for (const letter of letters)
    for (const head of ['', 'a', 'ab', 'abc']) {
      const name = head + letter.repeat(64)
      const [row] = await database.db.query<{ name: string }>(sql`SELECT ${name}::name::text AS name`)
      assert.equal(cutIdentifier(name), row?.name)
      assert.equal(Object.keys((await database.db.query(sql`SELECT 1 AS ${ident(name)}`))[0] ?? {})[0], row?.name)
      assert.deepEqual([fitsIdentifier(name), fitsIdentifier(cutIdentifier(name))], [false, true])
    }
})

test('a name that fits stays as it is', () => {
  for (const name of ['a'.repeat(63), 'ä'.repeat(31), '漢'.repeat(21), '😀'.repeat(15), ''])
    assert.deepEqual([cutIdentifier(name), fitsIdentifier(name)], [name, true])
  assert.equal(cutIdentifier('ää', 3), 'ä')
})
