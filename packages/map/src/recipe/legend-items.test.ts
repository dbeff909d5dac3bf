import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AttributeStatistics } from '@graticule/client'
import {
  colourKinds,
  defaultCategories,
  defaultGraduated,
  defaultRecipe,
  distributionOf,
  geometryOf,
} from './defaults.ts'
import { legendItems } from './legend-items.ts'
import type { Colouring, LayerRecipe } from './recipe.ts'

const statistics = (change: Partial<AttributeStatistics>): AttributeStatistics => ({
  attribute: 'population',
  type: 'integer',
  rows: { count: 100, isEstimate: false },
  count: 100,
  nulls: 0,
  distinct: 90,
  min: 0,
  max: 9_000,
  mean: 100,
  quantiles: [],
  histogram: [],
  frequent: [{ value: 1, count: 5 }],
  sampled: false,
  sampleSize: 100,
  ...change,
})
const layer = (colour: Colouring, change: Partial<LayerRecipe> = {}): LayerRecipe => ({
  ...defaultRecipe({
    id: 'a',
    dataset: { id: 'd', name: 'Cities', attributes: [] },
    tilesId: 't',
    index: 0,
    theme: 'light',
  }),
  colour,
  ...change,
})
const labels = (recipe: LayerRecipe) =>
  legendItems(recipe, 'light', 'fr').map(({ label }) => label.replaceAll(/[\u202f\u00a0]/g, ' '))

test('a legend has ranges in the reader’s format, the last open, and nulls only where there are some', () => {
  const found = statistics({ nulls: 0 })
  const graduated = { ...defaultGraduated(found, distributionOf(found), 'light'), breaks: [1_200, 5_600] }
  assert.deepEqual(labels(layer(graduated)), ['0 – 1 200', '1 200 – 5 600', '≥ 5 600'])
  assert.deepEqual(labels(layer({ ...graduated, hasNulls: true })).at(-1), 'No value')
  assert.deepEqual(labels(layer({ ...graduated, breaks: [0.25], min: 0.1234 })), ['0,12 – 0,25', '≥ 0,25'])
  assert.deepEqual(labels(layer({ ...graduated, attribute: 'year', min: 1990, breaks: [2000] })), [
    '1990 – 2000',
    '≥ 2000',
  ])
})

test('a text written by hand stands in place of the generated one', () => {
  const found = statistics({})
  const graduated = { ...defaultGraduated(found, distributionOf(found), 'light'), breaks: [10] }
  assert.deepEqual(labels(layer(graduated, { texts: { 'class 1': 'Many' } })), ['0 – 10', 'Many'])
})

test('categories name what is not coloured by itself', () => {
  const frequent = Array.from({ length: 20 }, (_, index) => ({ value: `land ${index}`, count: 20 - index }))
  const items = labels(layer(defaultCategories(statistics({ type: 'string', distinct: 1_043, frequent }), 'light')))
  assert.equal(items.length, 13)
  assert.equal(items.at(-1), 'Other (1 031 more)')
})

test('sizes are explained by three symbols', () => {
  const sized = layer(
    { kind: 'one', colour: '#ff0000' },
    { size: { value: 4, attribute: 'p', range: [2, 20], domain: [0, 1_000_000] } },
  )
  assert.deepEqual(labels(sized), ['0', '250 000', '1 000 000'])
  assert.deepEqual(
    legendItems(sized, 'light').map(({ size }) => size),
    [4, 22, 40],
  )
})

test('the first way to colour goes by the type of the attribute and its values', () => {
  const text = { type: 'string' as const, frequent: [{ value: 'a', count: 1 }] }
  assert.equal(colourKinds(statistics({}))[0], 'graduated')
  assert.equal(colourKinds(statistics({ distinct: 8 }))[0], 'categories')
  assert.equal(colourKinds(statistics({ ...text, distinct: 12 }))[0], 'categories')
  assert.equal(colourKinds(statistics({ ...text, distinct: 13 }))[0], 'one')
  assert.equal(colourKinds(statistics({ type: 'date', distinct: 4 }))[0], 'graduated')
  assert.deepEqual(colourKinds(statistics({ type: 'json', frequent: [] })), ['one'])
  assert.equal(
    defaultGraduated(statistics({ min: -5, max: 5 }), { min: -5, max: 5, values: [-5, 5] }, 'light').ramp,
    'RdBu',
  )
})

test('breaks in dates are at midnight', () => {
  const dates = statistics({ type: 'date', min: '2001-03-05', max: '2026-11-09' })
  const { breaks, method } = defaultGraduated(dates, distributionOf(dates), 'light')
  assert.equal(method, 'equal')
  assert.equal(breaks.length, 4)
  assert.ok(breaks.every((value) => value % 86_400_000 === 0))
})

test('the kind of a geometry is that of its type', () => {
  const of = (geometryType: string) =>
    geometryOf({
      attributes: [
        {
          name: 'geom',
          type: 'geometry',
          dbType: '',
          nullable: true,
          primaryKey: false,
          description: '',
          geometryType,
        },
      ],
    })
  assert.deepEqual(['Point', 'MULTIPOINT', 'MultiLineString', 'PolygonZ', 'GeometryCollection', 'Geometry'].map(of), [
    'point',
    'point',
    'line',
    'area',
    'mixed',
    'mixed',
  ])
  assert.equal(geometryOf({ attributes: [] }), null)
})
