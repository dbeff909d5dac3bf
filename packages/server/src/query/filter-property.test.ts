import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Db } from '../db/db.ts'
import { ident, joinSql, raw, type Sql, sql } from '../db/sql.ts'
import { testDatabase } from '../testing/database.ts'
import type { Attribute } from './attribute.ts'
import { parseFilter } from './filter.ts'
import { filterPredicate } from './filter-predicate.ts'
import { filterSql } from './filter-sql.ts'
import { anyFilter, anyRow, attributes, columnTypes } from './filter-arbitrary.ts'

const rowsPerRun = 40
const filtersPerRun = 100
const runs = 16
const column = ({ name }: Attribute): Sql => ident(name)

let db: Db
let close: () => Promise<void>

before(async () => {
  ;({ db, close } = await testDatabase())
  const columns = [...columnTypes].map(([name, type]) => sql`${ident(name)} ${raw(type)}`)
  await db.query(sql`CREATE TABLE filtered (id int PRIMARY KEY, ${joinSql(columns, ', ')})`)
})

after(() => close())

async function store(rows: readonly object[]): Promise<void> {
  const text = JSON.stringify(rows.map((row, id) => ({ id, ...row })))
  await db.query(sql`TRUNCATE filtered`)
  await db.query(sql`INSERT INTO filtered SELECT * FROM jsonb_populate_recordset(NULL::filtered, ${text}::jsonb)`)
}

test('SQL and the predicate give every row the same answer: true, false or unknown', async () => {
  const anyRows = fc.array(anyRow, { minLength: rowsPerRun, maxLength: rowsPerRun })
  const anyFilters = fc.array(anyFilter, { minLength: filtersPerRun, maxLength: filtersPerRun })
  const property = fc.asyncProperty(anyRows, anyFilters, async (rows, inputs) => {
    await store(rows)
    const filters = inputs.map((input) => parseFilter(input, attributes))
    const answers = filters.map((filter, index) => sql`${filterSql(filter, column)}::text AS ${ident(`f${index}`)}`)
    const selected = await db.query(sql`SELECT ${joinSql(answers, ', ')} FROM filtered ORDER BY id`)
    filters.forEach((filter, index) => {
      const predicate = filterPredicate(filter)
      const expected = selected.map((row) => row[`f${index}`])
      const actual = rows.map((row) => predicate(row)?.toString() ?? null)
      assert.deepEqual(actual, expected, `${JSON.stringify(inputs[index])} on ${JSON.stringify(rows)}`)
    })
  })
  await fc.assert(property, { numRuns: runs, endOnFailure: true })
})
