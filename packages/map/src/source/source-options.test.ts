import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FeatureCollection as ClientCollection } from '@graticule/client'
import type { FeatureCollection as GeoJsonCollection } from 'geojson'
import { checkSourceOptions, type DataSourceOptions, typeOf } from './source-options.ts'

const dataset = '7f0c8f0e-6f1e-4c55-8f0a-2f4f5c3a9b1d'
const collection = { type: 'FeatureCollection', features: [] }
const good = { id: 'cities', svcMap: { gl: {}, client: {} }, src: dataset }

/** What is thrown, or nothing. */
function problemOf(options: Record<string, unknown>): string {
  try {
    checkSourceOptions({ ...good, ...options } as never)
    return ''
  } catch (error) {
    assert.ok(error instanceof TypeError)
    return error.message
  }
}

test('every option of the table is taken as it is described', () => {
  const given: Record<string, unknown>[] = [
    {},
    { src: collection },
    { src: 'cities.geojson' },
    { src: 'https://example.org/tiles/{z}/{x}/{y}.pbf', sourceLayer: 'places' },
    { type: 'geojson', cluster: true, clusterMaxZoom: 12, clusterRadius: 40, limit: 1000, apiKey: 'key' },
    { featureId: 'gid', sourceLayer: 'geometry', limit: 5, selectionPopup: 'city', layers: [] },
    { selectionMode: 'multi', selectionClear: true, selectionState: 'ui.a', selectionFeatureState: 'ui.b' },
    { selectionPopup: () => null, layers: () => [], selectionMode: 'none', cluster: false, selectionClear: false },
    { apiKey: undefined, type: undefined, limit: undefined },
    { live: true },
    { live: true, cluster: true },
    { live: false, src: collection },
    {
      src: 'World cities',
      filter: 'population > 1000',
      visible: false,
      opacity: 0.5,
      beforeId: 'labels',
      title: 'Cities',
    },
    { svcMap: undefined, map: good.svcMap, filter: { name: 'Oslo' }, colorBy: 'kind', sizeBy: { attribute: 'people' } },
    { heat: true },
    { type: 'vector', cluster: true },
    {
      hexagons: { below: 9, value: 'avg(people)', size: 5, classes: 4, palette: 'Blues', reverse: true },
      time: '2024/..',
    },
    { grid: true, colorBy: 'people' },
    { heat: { weight: 'people', radius: 9 }, tooltip: 'name', popup: { title: 'name', fields: ['people'] } },
    { colorBy: { attribute: 'people', method: 'quantile', classes: 7, palette: 'Blues', reverse: true } },
  ]
  for (const options of given) assert.equal(problemOf(options), '', JSON.stringify(options))
})

test('a bad value is refused by the name of its option, with what is allowed', () => {
  const refused: [Record<string, unknown>, RegExp][] = [
    [{ id: '' }, /^DataSource: id must be a text that is not empty, not ""\.$/],
    [{ id: undefined }, /^DataSource: id must be /],
    [{ svcMap: null }, /^DataSource: svcMap must be a GraticuleMap, not null\.$/],
    [
      { src: { type: 'Feature' } },
      /^DataSource: src must be the id or name of a dataset, an address or a GeoJSON FeatureCollection, not an object\.$/,
    ],
    [{ src: 'http:// two words' }, /^DataSource: src must be /],
    [{ type: 'raster' }, /^DataSource: type must be "vector" or "geojson", not "raster"\.$/],
    [{ apiKey: 5 }, /^DataSource: apiKey must be /],
    [{ cluster: 'yes' }, /^DataSource: cluster must be true or false, not "yes"\.$/],
    [{ clusterMaxZoom: 99 }, /^DataSource: clusterMaxZoom must be a number from 0 to 24, not 99\.$/],
    [{ clusterRadius: -1 }, /^DataSource: clusterRadius must be /],
    [{ live: 1 }, /^DataSource: live must be true or false, not 1\.$/],
    [
      { live: true, src: collection },
      /^DataSource: live is only for a src that is the id of a dataset or a tile source, or the address of its tiles\.$/,
    ],
    [{ featureId: 7 }, /^DataSource: featureId must be /],
    [{ limit: 1.5 }, /^DataSource: limit must be a whole number above 0, not 1\.5\.$/],
    [{ sourceLayer: [] }, /^DataSource: sourceLayer must be .*, not an array\.$/],
    [{ selectionMode: 'many' }, /^DataSource: selectionMode must be "none", "single" or "multi", not "many"\.$/],
    [{ selectionClear: 1 }, /^DataSource: selectionClear must be /],
    [{ selectionState: {} }, /^DataSource: selectionState must be /],
    [{ selectionFeatureState: '' }, /^DataSource: selectionFeatureState must be /],
    [{ selectionPopup: 3 }, /^DataSource: selectionPopup must be the id of a registered popup or a function, not 3\.$/],
    [{ layers: {} }, /^DataSource: layers must be /],
    [{ opacity: 2 }, /^DataSource: opacity must be a number from 0 to 1, not 2\.$/],
    [
      { colorBy: { colour: 'people' } },
      /^DataSource: colorBy must be an attribute, or an object with attribute, kind, /,
    ],
    [{ filter: [] }, /^DataSource: filter must be conditions, or CQL2, not an array\.$/],
    [{ svcMap: undefined }, /^DataSource: svcMap must be a GraticuleMap, not undefined\.$/],
  ]
  for (const [options, message] of refused) assert.match(problemOf(options), message)
})

test('a misspelt option is refused with the nearest name', () => {
  assert.match(
    problemOf({ clusterradius: 5 }),
    /"clusterradius" is not an option\. Did you mean "clusterRadius"\? Allowed: id, /,
  )
  assert.match(problemOf({ selectonMode: 'single' }), /Did you mean "selectionMode"\?/)
  assert.match(
    problemOf({ colour: 'red' }),
    /^DataSource: "colour" is not an option\. Allowed: id, svcMap, map, src, type, /,
  )
})

test('options that contradict each other are refused', () => {
  const refused: [Record<string, unknown>, RegExp][] = [
    [{ src: collection, type: 'vector' }, /^DataSource: type must be "geojson"/],
    [{ type: 'vector', cluster: true, clusterRadius: 9 }, /^DataSource: clusterRadius is for GeoJSON sources only/],
    [{ src: collection, time: '2024' }, /^DataSource: time is only for a src that is the id of a dataset/],
    [{ type: 'geojson', sourceLayer: 'geometry' }, /^DataSource: sourceLayer is for vector sources only/],
    [{ src: collection, limit: 5 }, /^DataSource: limit is only for a src that is the id of a dataset/],
    [{ src: collection, filter: { a: 1 } }, /^DataSource: filter is only for a src that is the id of a dataset/],
    [{ layers: [], colorBy: 'a' }, /^DataSource: colorBy has no effect on layers of your own/],
    [{ cluster: true, heat: true }, /^DataSource: cluster cannot be used with heat/],
    [{ popup: { title: 'a' }, selectionPopup: 'city' }, /^DataSource: popup cannot be used with selectionPopup/],
    [{ selectionState: 'ui.city' }, /^DataSource: selectionState needs a selectionMode/],
    [{ selectionMode: 'none', selectionClear: true }, /^DataSource: selectionClear needs a selectionMode/],
  ]
  for (const [options, message] of refused) assert.match(problemOf(options), message)
})

test('collections typed by @types/geojson and by the client are taken, as the compiler says', () => {
  const foreign: GeoJsonCollection = { type: 'FeatureCollection', features: [] }
  const own: ClientCollection = { type: 'FeatureCollection', features: [] }
  const sources: DataSourceOptions['src'][] = [foreign, own]
  assert.deepEqual(
    sources.map((src) => problemOf({ src })),
    ['', ''],
  )
})

test('the type follows from the source where it is not said', () => {
  const types = (options: object) => typeOf({ ...good, ...options } as unknown as DataSourceOptions)
  assert.equal(types({}), 'vector')
  assert.equal(types({ cluster: true }), 'geojson')
  assert.equal(types({ src: collection }), 'geojson')
  assert.equal(types({ src: 'https://example.org/cities.geojson' }), 'geojson')
  assert.equal(types({ src: `https://example.org/tiles/${dataset}/index.json` }), 'vector')
  assert.equal(types({ src: 'https://example.org/{z}/{x}/{y}.pbf' }), 'vector')
  assert.equal(types({ type: 'geojson' }), 'geojson')
})
