import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { testDatabase } from '../../../testing/database.ts'
import {
  anyFilter,
  anyRow,
  attributes,
  columnTypes,
  queryStringForm,
} from '../../../testing/requests/filter-arbitrary.ts'
import type { Db, Queryable } from '../../kernel/db/db.ts'
import { ident, joinSql, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import type { Attribute } from '../values/attribute.ts'
import { parseFilter } from './filter.ts'
import { filterPredicate } from './filter-predicate.ts'
import { filterSql } from './filter-sql.ts'

// One database is enough: it compares SQL with the predicate, as datasets/differential.test.ts does on both.

const anyRows = fc.array(anyRow, { minLength: 40, maxLength: 40 })
const anyFilters = fc.array(anyFilter, { minLength: 100, maxLength: 100 })
const column = ({ name }: Attribute): Sql => ident(name)

let db: Db
let close: () => Promise<void>

before(async () => {
  ;({ db, close } = await testDatabase())
  const columns = columnTypes.map(({ name, sqlType }) => sql`${ident(name)} ${raw(sqlType)}`)
  await db.query(sql`CREATE TABLE filtered (id int PRIMARY KEY, ${joinSql(columns, ', ')})`)
  for (const { name, sqlType } of columnTypes) {
    if (!sqlType.includes('json')) await db.query(sql`CREATE INDEX ON filtered (${ident(name)})`)
  }
})

after(() => close())

async function store(tx: Queryable, rows: readonly object[]): Promise<void> {
  const text = JSON.stringify(rows.map((row, id) => ({ id, ...row })))
  await tx.query(sql`TRUNCATE filtered`)
  await tx.query(sql`INSERT INTO filtered SELECT * FROM jsonb_populate_recordset(NULL::filtered, ${text}::jsonb)`)
}

test('SQL and the predicate give every row the same answer: true, false or unknown', async () => {
  const property = fc.asyncProperty(anyRows, anyFilters, async (rows, inputs) => {
    const filters = inputs.map((input) => parseFilter(input, attributes))
    const answers = filters.map((filter, index) => sql`${filterSql(filter, column)}::text AS ${ident(`f${index}`)}`)
    const selected = await db.transaction(async (tx) => {
      await tx.query(sql`SET LOCAL TimeZone = 'Asia/Kathmandu'`)
      await store(tx, rows)
      return tx.query(sql`SELECT ${joinSql(answers, ', ')} FROM filtered ORDER BY id`)
    })
    filters.forEach((filter, index) => {
      const predicate = filterPredicate(filter)
      rows.forEach((row, id) => {
        const [answer, expected] = [String(predicate(row)), String(selected[id]?.[`f${index}`])]
        assert.equal(answer, expected, `predicate ${answer}, SQL ${expected}: ${JSON.stringify([inputs[index], row])}`)
      })
    })
  })
  await fc.assert(property, { numRuns: process.env.TEST_RANDOM ? 50 : 8, endOnFailure: true })
})

test('a filter, its negation and its unknowns part the rows, with indexes as without', async () => {
  const property = fc.asyncProperty(anyRows, anyFilters, async (rows, inputs) => {
    await db.transaction(async (tx) => {
      await store(tx, rows)
      // Without a sequential scan plans look costly, and PostgreSQL would bring in workers and its compiler for 40 rows.
      await tx.script(
        'SET LOCAL enable_seqscan = off; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL jit = off',
      )
      for (const input of inputs) {
        const filter = parseFilter(input, attributes)
        const negation = filterSql(parseFilter({ $not: input }, attributes), column)
        const parts = await tx.query<{ part: string; id: number }>(sql`
          SELECT 'true' AS part, id FROM filtered WHERE ${filterSql(filter, column)}
          UNION ALL SELECT 'false', id FROM filtered WHERE ${negation}
          UNION ALL SELECT 'null', id FROM filtered WHERE ${filterSql(filter, column)} IS NULL`)
        const predicate = filterPredicate(filter)
        const expected = rows.map((row, id) => `${id} ${predicate(row)}`).sort()
        const actual = parts.map(({ part, id }) => `${id} ${part}`).sort()
        assert.deepEqual(actual, expected, JSON.stringify(input))
      }
    })
  })
  await fc.assert(property, { numRuns: 3, endOnFailure: true })
})

test('digits that a double cannot hold count in a numeric column', async () => {
  const filter = parseFilter({ numeric: '0.3000000000000000001' }, attributes)
  const [row] = await db.query(sql`
    SELECT ${filterSql(filter, () => sql`0.3000000000000000001::numeric`)} AS same,
      ${filterSql(filter, () => sql`0.3::numeric`)} AS rounded, ${filterSql(filter, () => sql`0.3::float8`)} AS double`)
  assert.deepEqual(row, { same: true, rounded: false, double: true })
})

test('a query string says the same as JSON', () => {
  const property = fc.property(anyFilter, (input) => {
    assert.deepEqual(parseFilter(queryStringForm(input), attributes), parseFilter(input, attributes))
    assert.deepEqual(parseFilter(JSON.stringify(input), attributes), parseFilter(input, attributes))
  })
  fc.assert(property, { numRuns: 1000 })
})
