import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../../kernel/errors.ts'
import { checkStyleSize } from './style-size.ts'

const layer = (id: string, rest: object = {}) => ({ id, type: 'circle', source: 's', ...rest })
const styleOf = (layers: unknown, sources: unknown = { s: { type: 'vector' } }) => ({ version: 8, sources, layers })

function errorOf(style: unknown): ApiError {
  const started = process.cpuUsage()
  try {
    checkStyleSize(style)
  } catch (error) {
    const { user, system } = process.cpuUsage(started)
    assert.ok(user + system < 1_000_000, `took ${user + system} µs`)
    if (error instanceof ApiError) return error
  }
  throw new Error('the style was accepted')
}

function refused(style: unknown, path: string, limit: { limit: number; limitName: string } | object = {}): void {
  const { status, faults, extensions } = errorOf(style)
  assert.equal(status, 400)
  assert.equal(faults[0]?.path, path)
  assert.deepEqual(extensions, limit)
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))
const match = (count: number) => ['match', ['get', 'x'], ...times(count, (n) => [`k${n}`, n]).flat(), 0]

test('a style of usual size is accepted', () => {
  const layers = times(300, (n) => layer(`l${n}`, { paint: { 'circle-radius': match(100) }, filter: match(20) }))
  assert.doesNotThrow(() => checkStyleSize(styleOf(layers)))
  assert.doesNotThrow(() => checkStyleSize(styleOf([layer('l', { paint: { 'circle-radius': match(4_900) } })])))
  const image = { type: 'image', url: `data:image/png;base64,${'A'.repeat(500_000)}` }
  assert.doesNotThrow(() => checkStyleSize(styleOf([], { image })))
  for (const odd of [null, 7, [], {}, styleOf(7, 7), styleOf([{}, {}]), { layers: [{ paint: 7 }] }]) {
    assert.doesNotThrow(() => checkStyleSize(odd), 'what is no style at all, the validation explains')
  }
})

test('layers that are no objects are refused at the first, since the validation explains each of them', () => {
  refused(styleOf([{}, null]), 'body/style/layers/1')
  refused(styleOf(times(2_000, () => [])), 'body/style/layers/0')
})

test('an expression has at most 10 000 values and 32 levels', () => {
  const tooMany = { limit: 10_000, limitName: 'expressionValues' }
  const radius = { paint: { 'circle-radius': match(400_000) } }
  refused(styleOf([layer('a'), layer('b', radius)]), 'body/style/layers/1/paint/circle-radius', tooMany)
  refused(styleOf([layer('a', { filter: times(20_000, () => []) })]), 'body/style/layers/0/filter', tooMany)
  let deep: unknown = 1
  for (let level = 0; level < 40; level++) deep = ['+', deep, 1]
  const tooDeep = { limit: 32, limitName: 'expressionDepth' }
  refused(styleOf([layer('a', { layout: { visibility: deep } })]), 'body/style/layers/0/layout/visibility', tooDeep)
})

test('a style has at most 2 000 layers, 500 sources and 100 000 values', () => {
  const layers = times(2_001, (n) => layer(`l${n}`))
  refused(styleOf(layers), 'body/style/layers', { limit: 2_000, limitName: 'styleLayers' })
  const sources = Object.fromEntries(times(501, (n) => [`s${n}`, { type: 'vector' }]))
  refused(styleOf([], sources), 'body/style/sources', { limit: 500, limitName: 'styleSources' })
  const values = { limit: 100_000, limitName: 'styleValues' }
  refused({ ...styleOf([]), metadata: times(800_000, () => 1) }, 'body/style', values)
  refused(styleOf([], { s: { data: times(800_000, () => []) } }), 'body/style', values)
  refused(styleOf(times(20, (n) => layer(`l${n}`, { paint: { a: match(4_000) } }))), 'body/style', values)
})

test('layers differ in their ids, and texts are not endless', () => {
  refused(styleOf(times(2_000, () => layer('same'))), 'body/style/layers/1/id')
  refused(styleOf([layer('i'.repeat(1_001))]), 'body/style/layers/0/id')
  refused({ ...styleOf([]), glyphs: 'g'.repeat(10_001) }, 'body/style/glyphs')
  refused({ ...styleOf([]), sprite: [{ id: 'a', url: 's'.repeat(10_001) }] }, 'body/style/sprite')
})
