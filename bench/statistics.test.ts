import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Case } from './part.ts'
import { growthPlot, powersAround, ratioPlot } from './report/plot.ts'
import { comparisonText, dearerWork, linesOf } from './report/report.ts'
import type { Results } from './report/results.ts'
import { runCase } from './run-case.ts'
import { changeOf, median, percentile, ratiosOf } from './statistics.ts'

const sampled = (...values: number[]) => values.map((value) => ({ value }))
const outcome = (...ours: number[]) => ({
  part: 'tiles',
  work: 'a tile',
  unit: 'a second' as const,
  better: 'more' as const,
  samples: { Graticule: sampled(...ours), martin: sampled(5, 10) },
  wanted: { ratio: { martin: 2 } },
})

test('a benchmark ratio is above 1 where Graticule is better, whether more or less is better', () => {
  assert.deepEqual(ratiosOf([10, 30], [5, 10], 'more'), [2, 3])
  assert.deepEqual(ratiosOf([10, 30], [5, 60], 'less'), [0.5, 2])
  assert.deepEqual([median([3, 1, 2]), median([4, 1, 2, 3]), percentile([1, 2, 3, 4], 0.95)], [2, 2.5, 4])
  const [line] = linesOf(outcome(10, 30))
  assert.deepEqual([line?.peer, line?.ratios, line?.wanted], ['martin', [2, 3], 2])
})

test('a benchmark calls a change clear only where the two ranges have nothing in common', () => {
  assert.deepEqual(changeOf([1, 2, 3], [4, 5, 6]), { factor: 2.5, isClear: true })
  assert.equal(changeOf([1, 2, 3], [3, 5, 6]).isClear, false)
  const results = (...ours: number[]) =>
    ({ commit: 'c', takenAt: 't', outcomes: [outcome(...ours)] }) as unknown as Results
  assert.match(comparisonText(results(10, 11), results(5, 6)), /0\.52 \| \*\*worse\*\*/)
  assert.match(comparisonText(results(10, 11), results(10, 12)), /within the spread/)
})

test('a benchmark tells which work takes clearly more CPU for a request than before, by more than 15 %', () => {
  const costing = (...costs: number[]) =>
    ({
      outcomes: [
        { ...outcome(1), samples: { Graticule: costs.map((server) => ({ value: 1, cpu: { server, database: 50 } })) } },
      ],
    }) as unknown as Results
  assert.deepEqual(dearerWork(costing(100, 110), costing(120, 125)), [])
  assert.deepEqual(dearerWork(costing(100, 150), costing(140, 200)), [], 'the ranges meet')
  const [text] = dearerWork(costing(100, 110), costing(140, 150))
  assert.match(String(text), /^a tile: .*155.*195.* µs of CPU for a request$/)
  assert.equal(dearerWork(costing(140, 150), costing(100, 110)).length, 0)
  assert.deepEqual(linesOf(costing(100, 110).outcomes[0] as never)[0]?.costs, ['105 + 50', ''])
})

test('a benchmark measures forth and back, and leaves out a contender that answers differently', async () => {
  const order: string[] = []
  const contender = (name: string) => ({ name, measure: async () => ({ value: order.push(name) }) })
  const other = { ...contender('other'), equal: () => Promise.reject(new Error('two rows')) }
  const notes: string[] = []
  const one: Case = {
    work: 'rows',
    unit: 'ms',
    better: 'less',
    contenders: [contender('Graticule'), contender('martin'), other],
  }
  const { samples } = await runCase('part', one, {
    count: 2,
    warmUps: 1,
    deadline: Number.POSITIVE_INFINITY,
    note: (text) => notes.push(text),
  })
  assert.equal(order.join(' '), 'Graticule martin Graticule martin martin Graticule')
  assert.deepEqual(samples, { Graticule: sampled(3, 6), martin: sampled(4, 5) })
  assert.match(notes.join(), /other is left out: two rows/)
})

test('plots of benchmarks have a mark for each figure, colours for dark pages, and names escaped', () => {
  const bars = [
    { label: 'tiles & rows', ratios: [2, 4], wanted: 3 },
    { label: 'failed', ratios: [Number.NaN], wanted: undefined },
  ]
  const ratios = ratioPlot('Ratios', bars)
  assert.match(ratios, /tiles &amp; rows/)
  assert.match(ratios, /prefers-color-scheme: dark/)
  assert.doesNotMatch(ratios, /NaN|failed/)
  const curves = [
    {
      name: 'Graticule',
      points: [
        [10, 1],
        [100, 200],
      ] as [number, number][],
    },
  ]
  const growth = growthPlot('Growth', 'rows', [
    { title: 'tiles', curves },
    { title: 'none', curves: [] },
  ])
  assert.equal(growth.match(/<circle/g)?.length, 2)
  assert.doesNotMatch(growth, /NaN|Infinity/)
  assert.deepEqual(
    [powersAround(3, 40), powersAround(3, 4_000)],
    [
      [2, 5, 10, 20, 50],
      [1, 10, 100, 1_000, 10_000],
    ],
  )
})
