import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Plan } from '../../../query/plan/plan.ts'
import { isLight } from './memory-source-job.ts'

const plan: Plan = {
  columns: [],
  where: { kind: 'and', filters: [] },
  order: [],
  group: undefined,
  distinct: [],
  sample: undefined,
  limit: undefined,
  offset: 0,
}

test('many rows go to a thread, and so do few rows with large cells', () => {
  const isLightWith = (rows: number, cellLength: number): boolean => {
    const cells = Array.from({ length: rows }, () => ['x'.repeat(cellLength), null])
    return isLight({
      answer: { kind: 'cells', cells, attributes: [], definitions: {} },
      plan,
      shape: { geometry: 'wkt' },
    })
  }
  assert.equal(isLightWith(500, 10), true)
  assert.equal(isLightWith(501, 10), false)
  assert.equal(isLightWith(1, 100_000), false)
})
