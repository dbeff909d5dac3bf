import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type CellsRecipe,
  defaultRecipe,
  type FarRecipe,
  type LayerRecipe,
  legendsOf,
  noRecipes,
  themedStyle,
} from '@graticule/map/recipe'
import { createExpression, type StyleSpecification, validateStyleMin } from '@maplibre/maplibre-gl-style-spec'
import { baseStyles } from '../../../../../server/src/tenants/cartography/maps/base-styles.ts'
import { isEditedByHand, themeOfStyle, tilesOf, withBase, withRecipes, withSeenBreaks } from './map-style.ts'

const baseOf = (theme: string) => baseStyles().find(({ key }) => key === theme)?.style as unknown as StyleSpecification
const [light, dark] = [baseOf('light'), baseOf('dark')]
const dataset = { id: 'cities', name: 'Cities', attributes: [] }
const recipe = (change: Partial<LayerRecipe>): LayerRecipe => ({
  ...defaultRecipe({ id: 'a', dataset, tilesId: 'tiles', index: 0, theme: 'light' }),
  geometry: 'point',
  ...change,
})
const styleOf = (change: Partial<LayerRecipe>) => withRecipes(light, { ...noRecipes, layers: [recipe(change)] })
const own = ({ layers }: StyleSpecification) => layers.filter(({ id }) => id.startsWith('a-'))

const ramp = { ramp: 'YlOrRd', isReversed: false } as const
const hexagons: CellsRecipe = { kind: 'hexagons', below: 7, value: 'avg(pop)', classes: 3, breaks: [5, 9], ...ramp }
const fars: FarRecipe[] = [
  { kind: 'heat', below: 7, weight: 'pop', most: 9, radius: 24, ...ramp },
  hexagons,
  { ...hexagons, kind: 'grid', value: 'count' },
  { kind: 'clusters', below: 7, colour: '#0b7285' },
]

test('what is far is drawn below its zoom and the features from there on, in a style that MapLibre takes', () => {
  for (const far of fars) {
    const style = styleOf({ far, label: { attribute: 'name', size: 12 } })
    assert.deepEqual(validateStyleMin(style), [], far.kind)
    const layers = own(style)
    const feature = layers.filter(({ id }) => id === 'a-point' || id === 'a-label')
    const distant = layers.filter((layer) => !feature.includes(layer))
    assert.deepEqual(
      [feature.map(({ minzoom }) => minzoom), new Set(distant.map(({ maxzoom }) => maxzoom))],
      [[7, 7], new Set([7])],
    )
    assert.deepEqual(tilesOf(style), ['tiles'])
    assert.equal(isEditedByHand(style), false)
  }
})

test('a heat map weighs each feature by the rows that it stands for, and one that stands for itself by one', () => {
  const [layer] = own(styleOf({ far: { kind: 'heat', below: 7, weight: 'pop', most: 10, radius: 24, ...ramp } }))
  const paint = (layer?.paint ?? {}) as Record<string, unknown>
  const expression = createExpression(paint['heatmap-weight'], 'paint')
  assert.equal(expression.result, 'success')
  const { evaluate } = expression.value as unknown as { evaluate(globals: object, feature: object): unknown }
  const weightOf = (properties: object) => evaluate.call(expression.value, { zoom: 3 }, { type: 1, properties })
  assert.deepEqual([weightOf({ pop: 10 }), weightOf({ pop: 5, svc_count: 6 }), weightOf({})], [1, 3, 0])
})

test('what is far at all zooms leaves no features', () => {
  for (const far of fars) {
    const layers = own(styleOf({ far: { ...far, below: null }, label: { attribute: 'name', size: 12 } }))
    assert.deepEqual(
      layers.filter(({ id }) => /point|label/.test(id)),
      [],
    )
    assert.ok(layers.every(({ maxzoom }) => maxzoom === undefined))
  }
})

test('cells are asked for with their value and the conditions of the layer, which the server counts by', () => {
  const conditions: LayerRecipe['conditions'] = [
    { attribute: 'pop', type: 'integer', operator: '≥', value: '1000' },
    { attribute: 'name', type: 'string', operator: 'contains', value: '50%' },
    { attribute: 'kind', type: 'string', operator: '≠', value: 'b' },
    { attribute: 'note', type: 'string', operator: 'is not empty', value: '' },
  ]
  const { sources } = styleOf({ far: hexagons, conditions })
  const source = Object.entries(sources).find(([id]) => id.endsWith('-hexagons'))?.[1] as { url: string }
  const url = new URL(source.url, 'https://maps.example')
  assert.equal(url.pathname, '/tiles/tiles/index.json')
  assert.deepEqual([url.searchParams.get('aggregate'), url.searchParams.get('value')], ['h3:auto', 'avg(pop)'])
  assert.deepEqual(JSON.parse(url.searchParams.get('filter') ?? ''), {
    $and: [
      { pop: { $gte: 1000 } },
      { name: { $iLike: '%50\\%%' } },
      { $or: [{ kind: { $ne: 'b' } }, { kind: null }] },
      { $not: { note: null } },
    ],
  })
})

test('the legend is of what the map shows at its zoom', () => {
  const layers = [recipe({ far: hexagons })]
  const labels = (zoom: number, breaks?: number[]) =>
    legendsOf(layers, 'light', 'en', { zoom, breaksOf: () => breaks })[0]?.items.map(({ label }) => label)
  assert.deepEqual(labels(9), ['Cities'])
  assert.deepEqual(labels(3), ['< 5', '5 – 9', '≥ 9'])
  assert.deepEqual(labels(3, [100]), ['< 100', '≥ 100'])
})

test('the classes that are seen are stored, once', () => {
  const style = styleOf({ far: { ...hexagons, breaks: [] } })
  const seen = { zoom: 3, breaksOf: () => [2, 4] }
  const stored = withSeenBreaks(style, seen)
  assert.match(JSON.stringify(own(stored)[0]?.paint), /"step",.*2,.*4,/)
  assert.equal(withSeenBreaks(stored, seen), stored)
})

test('a map for light and dark readers has both, with the same data, also after a change', () => {
  const begun = withBase(styleOf({}), light, 'reader', dark)
  const style = withRecipes(begun, { ...noRecipes, baseId: 'reader', layers: [recipe({ far: hexagons })] })
  const [forLight, forDark] = [themedStyle(style, 'light'), themedStyle(style, 'dark')]
  assert.deepEqual([themeOfStyle(forLight), themeOfStyle(forDark)], ['light', 'dark'])
  assert.deepEqual(
    own(forDark).map(({ id }) => id),
    own(forLight).map(({ id }) => id),
  )
  assert.notDeepEqual(own(forDark), own(forLight))
  assert.deepEqual(validateStyleMin(forDark), [])
  const background = ({ layers }: StyleSpecification) => JSON.stringify(layers[0])
  assert.equal(background(forDark), background(dark))
  assert.equal(background(forLight), background(light))
  const served = { ...style, sprite: 'https://maps.example/base/sprites/light' }
  assert.equal(themedStyle(served, 'dark').sprite, `https://maps.example/base${String(dark.sprite)}`)
  assert.equal(themedStyle(withBase(style, light, null), 'dark').layers[0]?.id, light.layers[0]?.id)
  assert.equal(themeOfStyle(themedStyle(withBase(style, light, null), 'dark')), 'light')
})
