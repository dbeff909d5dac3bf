import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AttributeStatistics } from '@graticule/client'
import { frequentBars, histogramBars, sourceSentence, spreadOf } from './statistics.ts'

const statistics: AttributeStatistics = {
  attribute: 'n',
  type: 'integer',
  rows: { count: 12, isEstimate: false },
  count: 10,
  nulls: 2,
  distinct: 4,
  min: 1,
  max: 9,
  mean: 4.5,
  sampled: false,
  sampleSize: 12,
  quantiles: [0, 0.25, 0.5, 0.75, 1].map((p) => ({ p, value: 1 + 8 * p })),
  histogram: [
    { from: 1, to: 5, count: 8 },
    { from: 5, to: 9, count: 2 },
  ],
  frequent: [
    { value: 1, count: 4 },
    { value: '', count: 1 },
  ],
}

test('statistics are told in a sentence, which says when they are of a sample', () => {
  assert.equal(sourceSentence(statistics), '10 values, 2 missing, 4 different.')
  const sampled = { ...statistics, nulls: 0, sampled: true, rows: { count: 3, isEstimate: true } }
  assert.equal(
    sourceSentence(sampled),
    'About 10 values, none missing, about 4 different. Spread and frequency are from a sample of 12 rows.',
  )
})

test('quarters are named, and bars are shares of the largest', () => {
  assert.deepEqual(
    spreadOf(statistics).map(({ label, value }) => [label, value]),
    [
      ['least', 1],
      ['first quarter', 3],
      ['median', 5],
      ['third quarter', 7],
      ['greatest', 9],
      ['mean', 4.5],
    ],
  )
  assert.deepEqual(histogramBars(statistics, String), [
    { label: '1 – 5', count: 8, share: 1 },
    { label: '5 – 9', count: 2, share: 0.25 },
  ])
  assert.deepEqual(
    frequentBars(statistics, String).map(({ label }) => label),
    ['1', '(empty text)'],
  )
  assert.deepEqual(frequentBars({ ...statistics, frequent: [{ value: 1, count: 1 }] }, String), [])
})
