import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GraticuleMap } from '../graticule-map.ts'
import { DataSource } from './data-source.ts'
import type { DataSourceOptions } from './source-options.ts'

/** As `graticule types` and people write it. */
interface City {
  id: number
  name: string
  population: number | null
}

// The compiler is the test: it refuses an expected error that is none.
function typedSources(map: GraticuleMap): void {
  const cities = new DataSource<City>({
    id: 'cities',
    map,
    src: 'cities',
    colorBy: 'population',
    hexagons: { value: 'avg(population)' },
    filter: { population: { $gte: 1e6 }, $or: [{ name: 'Ulm' }] },
    tooltip: ({ feature }) => feature.properties.name,
    popup: { title: '{name}', fields: ['population', { name: 'id', label: 'Number' }] },
  })
  cities.addEventListener('click', ({ detail }) => {
    const name: string | undefined = detail.feature.properties.name
    // @ts-expect-error It is a text.
    const wrong: number | undefined = detail.feature.properties.name
    assert.ok(name ?? wrong)
  })
  cities.setFilter("name = 'Ulm'")
  cities.setFilter({ op: '=', args: [{ property: 'name' }, 'Ulm'] })
  // @ts-expect-error There is no such attribute.
  cities.setFilter({ inhabitants: 5 })
  const kept: Map<string, DataSource> = new Map([['cities', cities]])
  assert.ok(kept)
}

type CityOptions = DataSourceOptions<City>
const misspelt: readonly Partial<CityOptions>[] = [
  // @ts-expect-error There is no such attribute.
  { colorBy: 'inhabitants' },
  // @ts-expect-error There is no such attribute.
  { sizeBy: { attribute: 'inhabitants' } },
  // @ts-expect-error There is no such attribute.
  { heat: { weight: 'inhabitants' } },
  // @ts-expect-error There is no such attribute.
  { grid: { value: 'sum(inhabitants)' } },
  // @ts-expect-error There is no such attribute.
  { tooltip: 'inhabitants' },
  // @ts-expect-error There is no such attribute.
  { popup: { fields: ['inhabitants'] } },
  // @ts-expect-error There is no such attribute.
  { filter: { inhabitants: 5 } },
]

/** Without a type any name may be one. */
const untyped: DataSourceOptions = { id: 'a', src: 'a', colorBy: 'b', filter: { c: 1 }, hexagons: { value: 'sum(d)' } }

test('a data source with a type of its rows is compiled only with the names of their attributes', () => {
  assert.equal(typeof typedSources, 'function')
  assert.equal(misspelt.length, 7)
  assert.equal(untyped.colorBy, 'b')
})
