import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'

// One database is enough: the reader finds the table, before a row reaches the database.

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp()
})
after(() => uploads.close())

async function completed(name: string, bytes: string) {
  const done = await uploads.upload({ name, bytes })
  assert.equal(done.status, 'completed', JSON.stringify(done.error))
  return { done, rows: await uploads.rows(done.datasetId) }
}

test('a JSON array of objects with coordinates becomes a dataset with a map', async () => {
  const stops = [
    { id: 1, name: 'Rautatientori', latitude: 60.1708, longitude: 24.9414, lines: ['M1', 'M2'] },
    { id: 2, name: 'Kamppi', latitude: 60.1685, longitude: 24.9315, lines: null },
  ]
  const { done, rows } = await completed('stops.json', JSON.stringify({ count: 2, data: stops }))
  assert.equal(done.tileSourceId, done.datasetId)
  assert.deepEqual(rows[0], { fid: 1, ...stops[0], geom: { type: 'Point', coordinates: [24.9414, 60.1708] } })
})

test('JSON objects without coordinates, in an array or on lines, become a dataset without a map', async () => {
  const people = [
    { name: 'Ada', born: '1815-12-10' },
    { name: 'Grace', born: '1906-12-09', rank: { navy: 'rear admiral' } },
  ]
  for (const text of [JSON.stringify(people), people.map((one) => JSON.stringify(one)).join('\n')]) {
    const { done, rows } = await completed('people.json', text)
    assert.equal(done.tileSourceId, null)
    assert.deepEqual(rows, [
      { fid: 1, ...people[0], rank: null },
      { fid: 2, ...people[1] },
    ])
  }
})

test('objects that are the members of one object are rows, and their names a column', async () => {
  const stops = {
    a1: { name: 'Kamppi', lat: 60.1685, lon: 24.9315 },
    b2: { name: 'Rautatientori', lat: 60.1708, lon: 24.9414 },
  }
  const { done, rows } = await completed('stops.json', JSON.stringify(stops))
  assert.deepEqual(
    done.warnings.map(({ code }: { code: string }) => code),
    ['keyed_objects'],
  )
  assert.deepEqual(rows[0], { fid: 1, id: 'a1', ...stops.a1, geom: { type: 'Point', coordinates: [24.9315, 60.1685] } })
  const named = await completed('named.json', '{"x":{"id":1,"v":null},"y":{"id":2,"v":"ü"}}')
  assert.deepEqual(named.rows, [
    { fid: 1, key: 'x', id: 1, v: null },
    { fid: 2, key: 'y', id: 2, v: 'ü' },
  ])
  const unlike = '{"settings":{"size":1},"author":{"name":"x"}}'
  assert.equal((await uploads.upload({ name: 'a.json', bytes: unlike })).status, 'failed')
})
