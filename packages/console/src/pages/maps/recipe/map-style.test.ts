import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type BreakMethod,
  breakMethods,
  type Colouring,
  compileShapes,
  defaultRecipe,
  type Graduated,
  type LayerRecipe,
  legendsOf,
  noRecipes,
  operators,
  type Recipes,
  ramps,
  recipesOf,
  tidyBreaks,
} from '@graticule/map/recipe'
import { createExpression, type StyleSpecification, validateStyleMin } from '@maplibre/maplibre-gl-style-spec'
import fc from 'fast-check'
import { baseStyles } from '../../../../../server/src/tenants/cartography/maps/base-styles.ts'
import type { ColumnType } from '../../dataset/attribute.ts'
import { isEditedByHand, themeOfStyle, tilesOf, withBase, withRecipes } from './map-style.ts'

const bases = baseStyles().map(({ style }) => style)
const [light, dark] = bases as [StyleSpecification, StyleSpecification]
const dataset = { id: 'cities', name: 'Cities', attributes: [] }
const recipe = (change: Partial<LayerRecipe> = {}): LayerRecipe => ({
  ...defaultRecipe({ id: 'a', dataset, tilesId: 'tiles-of-cities', index: 0, theme: 'light' }),
  geometry: 'point',
  ...change,
})
const recipesWith = (...layers: LayerRecipe[]): Recipes => ({ ...noRecipes, layers })

const graduated: Graduated = {
  kind: 'graduated',
  attribute: 'population',
  isDate: false,
  method: 'natural',
  classes: 3,
  breaks: [10, 20],
  min: 0,
  max: 30,
  ramp: 'Blues',
  isReversed: false,
  own: { 1: '#123456' },
  nullColour: '#bbbbbb',
  hasNulls: true,
}

/** What MapLibre paints for a feature. */
function painted(colour: Colouring, properties: Record<string, string | number | boolean | null>): string {
  const [layer] = compileShapes(recipe({ colour }), 'light')
  const paint = (layer?.paint ?? {}) as Record<string, unknown>
  const expression = createExpression(paint['circle-color'], 'layers[0].paint.circle-color')
  assert.equal(expression.result, 'success')
  const value = (expression.value as { evaluate(globals: object, feature: object): unknown }).evaluate(
    { zoom: 3 },
    { type: 1, properties },
  )
  return String(value)
}

describe('a compiled recipe', () => {
  test('paints each class, nulls and own colours as chosen', () => {
    assert.equal(painted(graduated, { population: 10 }), '#123456')
    assert.equal(painted(graduated, { population: '15' }), '#123456')
    assert.notEqual(painted(graduated, { population: 9.99 }), painted(graduated, { population: 20 }))
    assert.equal(painted(graduated, { population: null }), '#bbbbbb')
    assert.equal(painted(graduated, {}), '#bbbbbb')
  })

  test('paints dates, which are texts in tiles', () => {
    const dates = {
      ...graduated,
      isDate: true,
      breaks: [Date.UTC(2020, 0, 1), Date.UTC(2021, 0, 1)],
      own: { 0: '#000001', 1: '#000002', 2: '#000003' },
    }
    assert.equal(painted(dates, { population: '2019-12-31T23:59:59.000Z' }), '#000001')
    assert.equal(painted(dates, { population: '2020-01-01' }), '#000002')
    assert.equal(painted(dates, { population: '2021-06-01 00:00:00+00' }), '#000003')
  })

  test('paints categories of text, numbers and booleans, and others', () => {
    const categories: Colouring = {
      ...graduated,
      kind: 'categories',
      categories: [
        { value: true, colour: '#000001' },
        { value: 1.5, colour: '#000002' },
        { value: 'true story', colour: '#000003' },
      ],
      otherColour: '#000004',
      others: 3,
    }
    const of = (value: string | number | boolean) => painted(categories, { population: value })
    assert.deepEqual([of(true), of(1.5), of('true story'), of('else')], ['#000001', '#000002', '#000003', '#000004'])
  })

  test('lies under the names of the base map, its labels over all', () => {
    const style = withRecipes(light, recipesWith(recipe({ label: { attribute: 'name', size: 12 } })))
    const ids = style.layers.map(({ id }) => id)
    assert.equal(ids.indexOf('a-point'), style.layers.findIndex(({ type }) => type === 'symbol') - 1)
    assert.equal(ids.at(-1), 'a-label')
    assert.deepEqual(tilesOf(style), ['tiles-of-cities'])
  })
})

describe('a style with recipes', () => {
  const style = withRecipes(light, recipesWith(recipe({ colour: graduated })))

  test('gives them back, after any order of keys, and knows whether layers were edited by hand', () => {
    const stored = JSON.parse(
      JSON.stringify(style, Object.keys(flatKeys(style)).toSorted().toReversed()),
    ) as StyleSpecification
    assert.deepEqual(recipesOf(stored), recipesOf(style))
    assert.equal(isEditedByHand(stored), false)
    const served = structuredClone(stored)
    Object.assign(served.sources['graticule-tiles-of-cities'] ?? {}, {
      url: 'https://maps.example/tiles/tiles-of-cities/index.json?api-key=k',
    })
    assert.equal(isEditedByHand(served), false, 'though its addresses are absolute')
    const edited = structuredClone(stored)
    const layer = edited.layers.find(({ id }) => id === 'a-point')
    Object.assign(layer?.paint ?? {}, { 'circle-radius': 9 })
    assert.equal(isEditedByHand(edited), true)
    assert.equal(isEditedByHand(withRecipes(edited, recipesOf(edited))), false)
    const removed = { ...stored, layers: stored.layers.filter(({ id }) => id !== 'a-point') }
    assert.equal(isEditedByHand(removed), true)
  })

  test('keeps what else is changed in the base map', () => {
    const [first, ...rest] = style.layers
    const painted = {
      ...style,
      layers: [{ ...first, paint: { 'background-color': '#abcdef' } }, ...rest],
    } as StyleSpecification
    assert.equal(isEditedByHand(painted), false)
    const next = withRecipes(painted, recipesWith())
    assert.deepEqual(next.layers[0], painted.layers[0])
    assert.equal(next.layers.length, light.layers.length)
    assert.deepEqual(Object.keys(next.sources), Object.keys(light.sources))
  })

  test('changes its base map, and with it light to dark', () => {
    const moved = withBase(style, dark, 'dark')
    assert.deepEqual([themeOfStyle(style), themeOfStyle(moved)], ['light', 'dark'])
    assert.equal(moved.layers.length, dark.layers.length + 1)
    const [layer] = recipesOf(moved).layers
    assert.deepEqual(
      [layer?.stroke.colour, layer?.colour],
      ['#12161d', graduated],
      'colours that nobody chose follow it',
    )
    const back = withBase(moved, light, null)
    assert.deepEqual(back.layers, style.layers)
  })

  test('hides its base map and shows it again', () => {
    const hidden = withRecipes(style, { ...recipesOf(style), isBaseHidden: true })
    const seen = hidden.layers.filter(({ layout }) => layout?.visibility !== 'none').map(({ id }) => id)
    assert.deepEqual(seen, ['background', 'a-point'])
    const again = withRecipes(hidden, { ...recipesOf(hidden), isBaseHidden: false })
    assert.ok(again.layers.every(({ layout }) => layout?.visibility !== 'none'))
    assert.deepEqual(validateStyleMin(again), [])
  })
})

/** The beginning and one layer of names: the whole base maps are valid by themselves, and take 100 ms each time. */
const smallBases = bases.map((base): StyleSpecification => {
  const names = base.layers.find(({ type }) => type === 'symbol')
  return { ...base, layers: [...base.layers.slice(0, 2), ...(names ? [names] : [])] }
})

test('every style compiled from recipes is valid, and every legend has an item for every colour', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...smallBases),
      fc.array(anyRecipe, { maxLength: 4 }),
      fc.boolean(),
      (base, layers, isBaseHidden) => {
        const own = layers.map((layer, index) => ({ ...layer, id: `layer-${index}` }))
        const style = withRecipes(base, { ...noRecipes, isBaseHidden, layers: own })
        assert.deepEqual(
          validateStyleMin(style).map(({ message }) => message),
          [],
        )
        assert.equal(isEditedByHand(style), false)
        const legends = legendsOf(own, themeOfStyle(style))
        assert.ok(
          legends.every(({ items }) => items.length > 0 && new Set(items.map(({ key }) => key)).size === items.length),
        )
      },
    ),
    { numRuns: 150 },
  )
})

const colour = fc.constantFrom('#000000', '#ff8800', '#abcdef')
const attribute = fc.oneof(fc.constantFrom('population', 'name', 'Straßen-Länge', '$type', ''), fc.string())
const finite = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 })
const byValue = {
  attribute,
  ramp: fc.constantFrom(...ramps.map(({ name }) => name)),
  isReversed: fc.boolean(),
  nullColour: colour,
  hasNulls: fc.boolean(),
}
const anyGraduated = fc
  .record({
    kind: fc.constant('graduated' as const),
    ...byValue,
    isDate: fc.boolean(),
    method: fc.constantFrom<BreakMethod>(...breakMethods),
    classes: fc.integer({ min: 2, max: 10 }),
    min: finite,
    max: finite,
    breaks: fc.array(finite, { maxLength: 9 }),
    own: fc.dictionary(fc.constantFrom('0', '1', '9'), colour),
  })
  .map((drawn) => ({ ...drawn, breaks: tidyBreaks(drawn.breaks, drawn) }))
const anyCategories = fc.record({
  kind: fc.constant('categories' as const),
  ...byValue,
  categories: fc.uniqueArray(
    fc.record({ value: fc.oneof(fc.string(), fc.integer(), fc.double({ noNaN: true }), fc.boolean()), colour }),
    { maxLength: 12, selector: ({ value }) => String(value) },
  ),
  otherColour: colour,
  others: fc.integer({ min: 1, max: 99 }),
})
const anyColouring: fc.Arbitrary<Colouring> = fc.oneof(
  fc.record({ kind: fc.constant('one' as const), colour }),
  anyCategories,
  anyGraduated,
)
const types: ColumnType[] = ['string', 'integer', 'number', 'boolean', 'date', 'datetime', 'uuid']
const anyRecipe: fc.Arbitrary<LayerRecipe> = fc.record({
  id: fc.constant(''),
  datasetId: fc.uuid(),
  tilesId: fc.uuid(),
  sourceLayer: fc.constant('geometry'),
  name: fc.string(),
  geometry: fc.constantFrom('point', 'line', 'area', 'mixed'),
  isHidden: fc.boolean(),
  colour: anyColouring,
  size: fc.record({
    value: fc.double({ min: 0, max: 50, noNaN: true }),
    attribute: fc.option(attribute),
    range: fc.tuple(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 10, max: 60 })),
    domain: fc.tuple(finite, finite),
  }),
  opacity: fc.double({ min: 0, max: 1, noNaN: true }),
  stroke: fc.record({ colour, width: fc.double({ min: 0, max: 10, noNaN: true }) }),
  label: fc.option(fc.record({ attribute, size: fc.integer({ min: 6, max: 40 }) })),
  zoom: fc.constantFrom<[number, number]>([0, 24], [3, 12]),
  conditions: fc.array(
    fc.record({
      attribute,
      type: fc.constantFrom(...types),
      operator: fc.constantFrom(...operators),
      value: fc.oneof(fc.string(), fc.constantFrom('5', '-1.5', '2020-01-01')),
    }),
    { maxLength: 3 },
  ),
  texts: fc.dictionary(fc.constantFrom('title', 'class 0'), fc.string()),
})

/** Every key that occurs anywhere: for JSON.stringify, which then writes them in this order. */
function flatKeys(value: unknown, found: Record<string, true> = {}): Record<string, true> {
  if (typeof value !== 'object' || value === null) return found
  for (const [key, part] of Object.entries(value)) {
    found[key] = true
    flatKeys(part, found)
  }
  return found
}
