import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  alwaysShown,
  cellBits,
  cellBitsFor,
  chooseRates,
  rankLimit,
  ranks,
  rateAt,
  shareOf,
  sizeClass,
  standsFor,
  thinningBudget,
  visibleWidth,
} from './thinning-rule.ts'

const budget = thinningBudget({ maxFeatures: 50_000, maxBytes: 500_000 })
const points = (rows: number, bytes = 10) => [[{ rows, bytes: rows * bytes }]]

describe('the rates of a dataset', () => {
  test('leave a zoom alone whose densest tile fits, and every zoom above it', () => {
    assert.deepEqual(chooseRates([points(20_000), points(9_000)], budget), [])
    assert.equal(rateAt([], 3), 1)
  })

  test('make the densest tile fit, and use at least half of the budget', () => {
    const rates = chooseRates([points(1_000_000), points(300_000), points(30_000), points(12_000)], budget)
    assert.equal(rates.length, 3)
    for (const [zoom, rows] of [1_000_000, 300_000, 30_000].entries()) {
      const shown = rows * rateAt(rates, zoom)
      assert.ok(shown <= 7_500 && shown > 5_000, `${shown} of zoom ${zoom}`)
    }
  })

  test('keep to the bytes where rows are long', () => {
    const [rate = 1] = chooseRates([points(10_000, 400)], budget)
    assert.ok(rate * 10_000 * 400 <= 300_000, String(rate))
  })

  test('never fall with the zoom, whatever the estimates say', () => {
    const rates = chooseRates([points(30_000), points(50_000), points(5_000), points(900_000)], budget)
    assert.equal(rates.length, 4)
    for (const [zoom, rate] of rates.entries()) assert.ok(rate <= rateAt(rates, zoom + 1), rates.join())
  })

  test('thin the small first, and never what is as wide as an eighth of a tile', () => {
    const load = [0, 1, 2, 3, 4, 5, 6].map((size) => ({ rows: size === 0 ? 100_000 : 1_000, bytes: 0 }))
    const [rate = 1] = chooseRates([[load]], budget)
    assert.ok(rate < 0.1)
    const shares = load.map((_, size) => shareOf(rate, size))
    assert.deepEqual(
      [...shares].sort((a, b) => a - b),
      shares,
    )
    assert.equal(shares[alwaysShown], 1)
    assert.equal(sizeClass(1 / 8), alwaysShown)
  })

  test('end where nothing helps: a tile full of large shapes', () => {
    const load = [0, 0, 0, 0, 0, 0, 90_000].map((rows) => ({ rows, bytes: 0 }))
    const [rate = 1] = chooseRates([[load]], budget)
    assert.ok(rate > 0)
    assert.ok(rankLimit(rate) >= 1)
  })
})

test('where few features fit there are few cells, so that one of each fits', () => {
  assert.equal(cellBitsFor([points(1_000_000)], budget), cellBits)
  for (const maxFeatures of [1, 5, 100, 3_000]) {
    const limits = thinningBudget({ maxFeatures, maxBytes: 500_000 })
    assert.ok(4 ** cellBitsFor([points(1_000_000)], limits) <= Math.max(1, maxFeatures / 4))
  }
  assert.ok(4 ** cellBitsFor([points(10_000, 4_000)], budget) * 4_000 <= 100_000)
})

test('a shape that grows with the zoom by one class is never shown less', () => {
  for (let width = visibleWidth / 8; width < 1; width *= 1.3) {
    for (const rate of [1e-4, 0.01, 0.3, 1]) {
      assert.ok(rankLimit(rate, sizeClass(2 * width)) >= rankLimit(rate, sizeClass(width)))
    }
  }
  assert.equal(sizeClass(visibleWidth), 1)
  assert.equal(sizeClass(visibleWidth * 0.999), 0)
  assert.equal(rankLimit(1), ranks)
})

test('the rows of a cell are shared out among those shown, without one too many', () => {
  for (const [shown, rows] of [
    [1, 1],
    [1, 7],
    [3, 10],
    [4, 4],
    [5, 1_000_003],
  ] as const) {
    const counts = Array.from({ length: shown }, (_, place) => standsFor(place, shown, rows))
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      rows,
    )
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 1)
  }
})
