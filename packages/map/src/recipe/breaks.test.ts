import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type BreakMethod, breakMethods, computeBreaks, maxClasses, minClasses, tidyBreaks } from './breaks.ts'

const methods = breakMethods.filter((method): method is Exclude<BreakMethod, 'manual'> => method !== 'manual')
const distribution = (values: number[]) => ({ min: Math.min(...values), max: Math.max(...values), values })
const hundred = Array.from({ length: 100 }, (_, index) => index + 1)

describe('breaks', () => {
  test('are where the field expects them', () => {
    const of = (method: (typeof methods)[number], values: number[], classes = 4) =>
      computeBreaks(method, classes, distribution(values)).breaks
    assert.deepEqual(of('equal', [0, 100]), [25, 50, 75])
    assert.deepEqual(of('quantile', hundred), [26, 51, 76])
    assert.deepEqual(of('pretty', [3, 97], 5), [20, 40, 60, 80])
    assert.deepEqual(of('pretty', [0.12, 0.87], 5), [0.2, 0.4, 0.6, 0.8])
    assert.deepEqual(of('logarithmic', [1, 10_000]), [10, 100, 1000])
    assert.deepEqual(of('natural', [1, 2, 3, 50, 51, 52, 900, 905], 3), [50, 900])
    assert.deepEqual(of('deviation', [2, 4, 4, 4, 5, 5, 7, 9]), [3, 5, 7])
  })

  test('are rounded to two or three figures of the class width', () => {
    const { breaks } = computeBreaks('equal', 3, distribution([1_234.567, 98_765.432]))
    assert.deepEqual(breaks, [34_000, 66_000])
  })

  test('of repeated values fall together, and a note says so', () => {
    const { breaks, note } = computeBreaks('natural', 5, distribution([1, 1, 1, 1, 2]))
    assert.deepEqual(breaks, [2])
    assert.match(note ?? '', /too few different values for 5 classes, so there are 2 classes/)
    assert.deepEqual(computeBreaks('quantile', 4, distribution([7, 7, 7])).breaks, [])
  })

  test('of ten thousand values do not take long', () => {
    const values = Array.from({ length: 10_000 }, (_, index) => (index * 7919) % 100_003)
    const start = performance.now()
    assert.equal(computeBreaks('natural', 7, distribution(values)).breaks.length, 6)
    assert.ok(performance.now() - start < 10_000)
  })

  test('are strictly ascending, above the minimum and at most the maximum, whatever the values', () => {
    const values = fc.array(
      fc.oneof(fc.integer(), fc.double({ noNaN: true, min: -1e12, max: 1e12 }), fc.constantFrom(0, 1, 1, -0)),
      { minLength: 1, maxLength: 60 },
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...methods),
        fc.integer({ min: minClasses, max: maxClasses }),
        values,
        (method, classes, sample) => {
          const given = distribution(sample)
          const { breaks } = computeBreaks(method, classes, given)
          breaks.forEach((value, index) => {
            assert.ok(value > (breaks[index - 1] ?? given.min) && value <= given.max, `${method}: ${breaks}`)
          })
        },
      ),
      { numRuns: 500 },
    )
  })

  test('typed by hand are put in order', () => {
    assert.deepEqual(tidyBreaks([50, 10, 10, 500, 0], { min: 0, max: 100 }), [10, 50])
  })
})
