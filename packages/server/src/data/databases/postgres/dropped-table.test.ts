import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migratedDatabase } from '../../../../testing/database.ts'
import { sql } from '../../../kernel/db/sql.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import { connectionOf } from './connect.ts'

/** A process of PostgreSQL 15 with PostGIS 3.3 crashed within a few of them. */
const rounds = 100
const askers = 6

test('a table may be dropped while its extent is asked for: no process of the database crashes', async () => {
  const { db, close } = await migratedDatabase()
  const postmaster = sql`SELECT pg_postmaster_start_time()::text || current_setting('data_directory_mode') AS since`
  const connection = connectionOf({
    schema: 'public',
    select: (statement, options) => db.guarded(statement, { ...options, schema: 'public' }),
  })
  const geometry: Attribute = { name: 'geom', type: 'geometry', srid: 3857 }
  const options = { timeoutMs: 30_000 }
  const before = await db.query(postmaster)
  let isOver = false
  const ask = async () => {
    let answers = 0
    while (!isOver) {
      const periods = await connection.periods?.('fleeting', [geometry], options)
      assert.ok(periods && 'geom' in periods)
      await connection.estimate('fleeting', geometry, options)
      answers++
    }
    return answers
  }
  const asking = Array.from({ length: askers }, ask)
  for (let round = 0; round < rounds; round++) {
    await db.query(sql`CREATE TABLE fleeting (geom geometry(Point, 3857))`)
    await db.query(sql`CREATE INDEX ON fleeting USING gist (geom)`)
    await db.query(sql`DROP TABLE fleeting`)
  }
  isOver = true
  const answers = await Promise.all(asking)
  assert.ok(answers.every((count) => count > 0))
  assert.deepEqual(await db.query(postmaster), before)
  await close()
})
