import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FeatureCollection as GeoJson } from 'geojson'
import {
  type AgentEvent,
  createClient,
  type Dataset,
  type DatasetCreate,
  type DatasetPatch,
  type FeatureCollection,
  type NewApplication,
  type Upload,
} from './client.ts'

// What the compiler infers: tsc fails where it infers something else, and where a @ts-expect-error is not needed.

type Same<One, Other> = (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false
/** Compiles only when the value is of just this type. */
const expectType = <Expected>() => ({
  of: <Actual>(_: Actual & (Same<Actual, Expected> extends true ? unknown : never)) => {},
})

const client = createClient('https://host', 'KEY', { fetch: async () => Response.json([]) })

interface City {
  name: string
  population: number | null
}

test('a dataset’s row type is a type parameter of its queries', async () => {
  expectType<City[]>().of(await client.datasets.query<City>('1'))
  expectType<City[]>().of(await client.datasets.query<City>('1', { limit: 1 }, { format: 'json', year: 2020 }))
  expectType<Record<string, unknown>[]>().of(await client.datasets.query('1', {}))
  expectType<FeatureCollection<City>>().of(await client.datasets.query<City>('1', {}, { format: 'geojson' }))
  const collection: GeoJson = await client.datasets.query('1', {}, { format: 'geojson' })
  assert.ok(collection)
  expectType<string>().of(await client.datasets.query('1', {}, { format: 'csv' }))
  expectType<{ plan: unknown }>().of(await client.datasets.query('1', {}, { explain: true }))
  for await (const city of client.datasets.rows<City>('1')) expectType<City>().of(city)
  // @ts-expect-error: no such format
  await client.datasets.query('1', {}, { format: 'xml' })
  // @ts-expect-error: the misspelt name of a part of the query
  await client.datasets.query('1', { wher: {} })
})

test('a record has the fields that were asked for', async () => {
  expectType<Dataset[]>().of(await client.datasets.list())
  expectType<Dataset>().of(await client.datasets.get('1', { join: ['owner'] }))
  expectType<Pick<Dataset, 'id' | 'name'>[]>().of(await client.datasets.list({ fields: ['id', 'name'], tags: ['a'] }))
  expectType<Pick<Dataset, 'name'>>().of(await client.datasets.get('1', { fields: ['name'] }))
  expectType<NewApplication>().of(await client.applications.create({ name: 'x' }))
  expectType<Upload>().of(await client.uploads.upload(new File([], 'x.csv')))
  expectType<void>().of(await client.datasets.delete('1', { keepData: true }))
  // @ts-expect-error: no field of a dataset
  await client.datasets.list({ fields: ['nmae'] })
  // @ts-expect-error: no parameter of the operation
  await client.styles.list({ limmit: 1 })
  // @ts-expect-error: keys cannot be changed
  assert.equal(client.apiKeys.update, undefined)
})

test('inputs demand what they must and take nothing that the service sets', async () => {
  const dataset: DatasetCreate = { type: 'sql', name: 'x', source: 'SELECT 1' }
  await client.datasets.create(dataset)
  // @ts-expect-error: the source is missing
  await client.datasets.create({ type: 'sql', name: 'x' })
  // @ts-expect-error: the service sets it
  await client.datasets.create({ ...dataset, createdAt: '2027-01-31T12:00:00Z' })
  const patch: DatasetPatch = { description: null, metadata: { a: null } }
  await client.datasets.patch('1', patch)
  // @ts-expect-error: a name is text
  await client.datasets.patch('1', { name: 1 })
  // @ts-expect-error: an agent needs an input
  await client.agents.invoke('1', {})
})

test('the type of an event decides what it holds', () => {
  const read = (event: AgentEvent): string | number => {
    if (event.type === 'delta') return event.text
    return event.type === 'done' ? event.durationMs : event.invocationId
  }
  assert.equal(read({ type: 'delta', text: 'x' }), 'x')
})
