import assert from 'node:assert/strict'
import { test } from 'node:test'
import { axisEnd } from './measures.ts'
import { type Period, periodsOf, wholePeriods } from './periods.ts'

const now = Date.UTC(2026, 2, 1, 23, 59)

test('a span ends today, by the days of UTC, also across months and years', () => {
  assert.deepEqual(periodsOf('week', now), { from: '2026-02-23', to: '2026-03-01', interval: 'day' })
  assert.deepEqual(periodsOf('year', now), { from: '2025-04-01', to: '2026-03-01', interval: 'month' })
})

test('days and months that the server left out count nothing', () => {
  const found = [{ start: '2026-02-28', requests: 7 }] as Period[]
  const days = wholePeriods(periodsOf('week', now), found)
  assert.deepEqual(
    days.map(({ start, requests }) => [start.slice(5), requests]),
    [
      ['02-23', 0],
      ['02-24', 0],
      ['02-25', 0],
      ['02-26', 0],
      ['02-27', 0],
      ['02-28', 7],
      ['03-01', 0],
    ],
  )
  const months = wholePeriods(periodsOf('year', now), [])
  assert.deepEqual([months.length, months[0]?.start, months.at(-1)?.start], [12, '2025-04-01', '2026-03-01'])
})

test('an axis ends at a round number that no bar exceeds', () => {
  assert.deepEqual([0, 1, 3, 10, 11, 51, 999].map(axisEnd), [1, 1, 5, 10, 20, 100, 1000])
})
