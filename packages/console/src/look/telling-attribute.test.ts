import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AttributeStatistics, Dataset } from '@graticule/client'
import { popupFields } from './popup-fields.ts'
import { isUsable, type LookInput, promisingAttributes, suggestLook } from './telling-attribute.ts'

type Value = string | number | boolean | null
type Attribute = Dataset['attributes'][number]

const typeOf = (values: readonly Value[]): AttributeStatistics['type'] => {
  const [first] = values.filter((value) => value !== null)
  if (typeof first === 'boolean') return 'boolean'
  if (typeof first === 'string') return /^\d{4}-\d\d-\d\d/.test(first) ? 'date' : 'string'
  return values.every((value) => value === null || Number.isInteger(value)) ? 'integer' : 'number'
}

/** As the server counts them. */
function statisticsOf(attribute: string, values: readonly Value[]): AttributeStatistics {
  const given = values.filter((value) => value !== null)
  const type = typeOf(values)
  const sorted = type === 'string' || type === 'boolean' ? [] : given.toSorted((a, b) => (a < b ? -1 : Number(a > b)))
  const counts = new Map<string | number | boolean, number>()
  for (const value of given) counts.set(value, (counts.get(value) ?? 0) + 1)
  const at = (p: number) => sorted[Math.round(p * (sorted.length - 1))] as number
  return {
    attribute,
    type,
    rows: { count: values.length, isEstimate: false },
    count: given.length,
    nulls: values.length - given.length,
    distinct: counts.size,
    min: sorted.length > 0 ? at(0) : null,
    max: sorted.length > 0 ? at(1) : null,
    mean: null,
    quantiles: sorted.length > 0 ? Array.from({ length: 21 }, (_, n) => ({ p: n / 20, value: at(n / 20) })) : [],
    histogram: [],
    frequent: [...counts]
      .map(([value, count]) => ({ value, count }))
      .toSorted((a, b) => b.count - a.count)
      .slice(0, 20),
    sampled: false,
    sampleSize: values.length,
  }
}

const attributesOf = (table: Record<string, readonly Value[]>): Attribute[] =>
  Object.entries(table).map(
    ([name, values]) => ({ name, type: typeOf(values), primaryKey: name === 'fid' }) as Attribute,
  )

const mostAsked = 8

/** As the console does it: statistics of the promising attributes, then the choice. */
function look(
  shape: LookInput['shape'],
  table: Record<string, readonly Value[]>,
  rows = Object.values(table)[0]?.length ?? 0,
) {
  const statistics = promisingAttributes(attributesOf(table), mostAsked).map(({ name }) =>
    statisticsOf(name, table[name] ?? []),
  )
  return suggestLook({ shape, rows, statistics })
}

const many = <T extends Value>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))
/** Skewed as sizes of towns are. */
const skewed = (index: number) => Math.round(900 * 1.09 ** ((index * 37) % 100))
const noise = (index: number) => ((index * 7919) % 1000) / 1000
const one = <T>(values: readonly T[], index: number) => values[index % values.length] as T
const count = 100

test('towns are sized and coloured by their population, not by postcode, official number or elevation of the station', () => {
  const towns = {
    fid: many(count, (n) => n + 1),
    name: many(count, (n) => `Town ${n}`),
    plz: many(count, (n) => 1000 + n * 83),
    bfs_nr: many(count, (n) => n * 7 + 1),
    gemeinde_code: many(count, (n) => 3000 + ((n * 13) % 40)),
    canton: many(count, (n) => one(['BE', 'ZH', 'VD', 'AG', 'SG', 'GR', 'TI', 'VS'], n)),
    population: many(count, skewed),
  }
  assert.deepEqual(look('point', towns), { colour: 'population', size: 'population', isHeat: false })
})

test('a share of areas is shown by colour alone, and what the geometry shows is not repeated', () => {
  const districts = {
    OBJECTID: many(count, (n) => n + 1),
    Shape_Area: many(count, (n) => 1000 * skewed(n)),
    Shape_Leng: many(count, (n) => 40 * skewed(n)),
    GEOID: many(count, (n) => 1001 + n * 2),
    unemployment_rate: many(count, (n) => 2 + 9 * noise(n)),
  }
  assert.deepEqual(look('area', districts), { colour: 'unemployment_rate', size: null, isHeat: false })
})

test('where there is no measure, a category of few values colours the map, not a flag or a text that differs in each row', () => {
  const roads = {
    osm_id: many(count, (n) => 4_000_000 + n * 991),
    name: many(count, (n) => `Street ${n}`),
    ref: many(count, (n) => `A${n}`),
    oneway: many(count, (n) => n % 50 === 0),
    highway: many(count, (n) => one(['residential', 'service', 'track', 'footway', 'primary'], n)),
    layer: many(count, () => 0),
    comment: many(count, (n) => `Seen by ${n}`),
  }
  assert.deepEqual(look('line', roads), { colour: 'highway', size: null, isHeat: false })
})

test('a few whole numbers are codes, which a category comes before; years come last', () => {
  const buildings = {
    id: many(count, (n) => n),
    klasse: many(count, (n) => one([1110, 1121, 1122, 1274], n)),
    baujahr: many(count, (n) => 1890 + ((n * 31) % 120)),
    nutzung: many(count, (n) => one(['Wohnen', 'Gewerbe', 'Schule'], n)),
  }
  assert.equal(look('area', buildings).colour, 'nutzung')
  const { nutzung: _, ...coded } = buildings
  assert.equal(look('area', coded).colour, 'klasse')
  const { klasse: __, ...dated } = coded
  assert.equal(look('area', dated).colour, 'baujahr')
})

test('numbers that only look like measures are years, running numbers and constants', () => {
  const odd = {
    jahrgang: many(count, (n) => 1950 + (n % 60)),
    laufend: many(count, (n) => 17 + n * 3),
    constant: many(count, () => 42),
    empty: many(count, (n) => (n === 3 ? 12.5 : null)),
    wert: many(count, (n) => 20 * noise(n)),
  }
  assert.equal(look('point', odd).colour, 'wert')
  const { wert: _, jahrgang: __, ...nothing } = odd
  assert.deepEqual(look('point', nothing), { colour: null, size: null, isHeat: false })
})

test('earthquakes are coloured and sized by magnitude rather than by depth error, time or station count', () => {
  const quakes = {
    time: many(count, (n) => `2024-01-${String((n % 28) + 1).padStart(2, '0')}`),
    latitude: many(count, noise),
    longitude: many(count, noise),
    depthError: many(count, (n) => 3 * noise(n + 5)),
    mag: many(count, (n) => 2.5 + 5 * noise(n) ** 3),
    updated: many(count, (n) => `2024-02-${String((n % 28) + 1).padStart(2, '0')}`),
  }
  assert.deepEqual(look('point', quakes), { colour: 'mag', size: 'mag', isHeat: false })
})

test('temperatures below zero are no amounts, and points stay of one size', () => {
  const stations = { station: many(count, (n) => `S${n}`), temperature: many(count, (n) => -10 + 30 * noise(n)) }
  assert.deepEqual(look('point', stations), { colour: 'temperature', size: null, isHeat: false })
})

test('many points of which nothing is known but where they are are a heat map; many with a measure keep one size', () => {
  const trees = { baum_id: many(count, (n) => n), bemerkung: many(count, (n) => `no ${n}`) }
  assert.deepEqual(look('point', trees, 50_000), { colour: null, size: null, isHeat: true })
  assert.deepEqual(look('area', trees, 50_000), { colour: null, size: null, isHeat: false })
  const counted = { ...trees, visits: many(count, skewed) }
  assert.deepEqual(look('point', counted, 50_000), { colour: 'visits', size: null, isHeat: false })
})

test('a category of two hundred countries is none, and one whose frequent values make up the map is', () => {
  const places = {
    country: many(600, (n) => `Land ${n % 200}`),
    style: many(600, (n) => (n % 10 === 0 ? `odd ${n % 21}` : one(['a', 'b', 'c'], n))),
  }
  assert.equal(look('point', { country: places.country }).colour, null)
  assert.equal(look('point', places).colour, 'style')
})

test('neither keys nor positions are worth asking statistics of, however large a table is', () => {
  const table = attributesOf({ fid: [1], x: [1.5], y: [1.5], userId: [1], note: ['a'], price: [1.5] })
  assert.deepEqual(
    promisingAttributes(table, 3).map(({ name }) => name),
    ['price', 'note'],
  )
  assert.deepEqual(
    table.filter(isUsable).map(({ name }) => name),
    ['x', 'y', 'userId', 'note', 'price'],
  )
})

test('a popup begins with the name and what the map shows, and leaves out keys and positions while there is something else', () => {
  const attributes = attributesOf({
    fid: [1],
    plz: [3000],
    lat: [46.5],
    ort_name: ['Bern'],
    kanton: ['BE'],
    bemerkung: ['x'],
    einwohner: [134_000],
    seit: ['2020-01-01'],
    hoehe: [540],
    offen: [true],
  })
  assert.deepEqual(popupFields(attributes, { colour: 'kanton', size: null, isHeat: false }), {
    title: 'ort_name',
    fields: ['kanton', 'einwohner', 'seit', 'hoehe', 'offen', 'bemerkung'],
  })
})
