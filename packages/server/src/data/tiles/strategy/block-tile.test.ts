import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDensestTiles } from '../thinning/densest-tiles.ts'
import type { BlockQuery } from './block-query.ts'
import { blockTile, type RuleWork } from './block-tile.ts'

test('a tile whose rows are still being counted says so in its time, and counting goes on', async (t) => {
  const counting = Promise.withResolvers<never>()
  const densest = createDensestTiles()
  const sampled = { key: 'a', hasVersion: true }
  const signal = new AbortController().signal
  const select = () => counting.promise
  const query = { thinning: {}, grid: {}, values: [], source: { connection: { select } } } as unknown as BlockQuery
  const work = { densest, sampled, signal, waitMs: 5 } as unknown as RuleWork
  // The tile's own timer does not keep a process alive.
  const alive = setInterval(() => {}, 1_000)
  t.after(() => clearInterval(alive))
  await assert.rejects(blockTile(query, work), { code: 'query_timeout', message: /Try again/ })
  const later = densest.of(sampled, () => assert.fail('it is measured twice'))
  counting.reject(new Error('no such file'))
  await assert.rejects(later, /no such file/)
})
