import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { testDatabase } from '../../../../testing/database.ts'
import { anyCql2, anyRow, attributes, columnTypes, textOf } from '../../../../testing/requests/cql2-arbitrary.ts'
import type { Db } from '../../../kernel/db/db.ts'
import { ident, joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { Attribute } from '../../values/attribute.ts'
import { filterPredicate } from '../filter-predicate.ts'
import { filterSql } from '../filter-sql.ts'
import { parseCql2Json, parseCql2Text } from './parse.ts'

// One database is enough: it compares SQL with memory, and oracle.test.ts asks both.

const column = ({ name }: Attribute): Sql => ident(name)
const options = { path: 'query/filter' }

let db: Db
let close: () => Promise<void>

before(async () => {
  ;({ db, close } = await testDatabase())
  const columns = columnTypes.map(({ name, sqlType }) => sql`${ident(name)} ${raw(sqlType)}`)
  await db.query(sql`CREATE TABLE filtered (id int PRIMARY KEY, ${joinSql(columns, ', ')})`)
})

after(() => close())

test('a CQL2 filter means the same in text and in JSON', () => {
  const property = fc.property(anyCql2, (json) => {
    const text = textOf(json)
    assert.deepEqual(parseCql2Text(text, attributes, options), parseCql2Json(json, attributes, options), text)
  })
  fc.assert(property, { numRuns: 1000 })
})

test('SQL and memory give every row the same answer to a CQL2 filter: true, false or unknown', async () => {
  const rowsOf = fc.array(anyRow, { minLength: 40, maxLength: 40 })
  const filtersOf = fc.array(anyCql2, { minLength: 60, maxLength: 60 })
  const property = fc.asyncProperty(rowsOf, filtersOf, async (rows, inputs) => {
    const filters = inputs.map((input) => parseCql2Json(input, attributes, options))
    const answers = filters.map((filter, index) => sql`${filterSql(filter, column)}::text AS ${ident(`f${index}`)}`)
    const selected = await db.transaction(async (tx) => {
      await tx.script("SET LOCAL TimeZone = 'Asia/Kathmandu'; SET LOCAL jit = off; TRUNCATE filtered")
      const text = JSON.stringify(rows.map((row, id) => ({ id, ...row })))
      await tx.query(sql`INSERT INTO filtered SELECT * FROM jsonb_populate_recordset(NULL::filtered, ${text}::jsonb)`)
      return tx.query(sql`SELECT ${joinSql(answers, ', ')} FROM filtered ORDER BY id`)
    })
    filters.forEach((filter, index) => {
      const holds = filterPredicate(filter)
      rows.forEach((row, id) => {
        const [answer, expected] = [String(holds(row)), String(selected[id]?.[`f${index}`])]
        const where = `memory ${answer}, SQL ${expected}: ${textOf(inputs[index])} ${JSON.stringify(row)}`
        assert.equal(answer, expected, where)
      })
    })
  })
  await fc.assert(property, { numRuns: process.env.TEST_RANDOM ? 40 : 6, endOnFailure: true })
})
