import assert from 'node:assert/strict'
import { test } from 'node:test'
import { datasetOf, emptyDraft, parameterNames } from './new-dataset.ts'

test('a filled-in query becomes a dataset whose parameters have types and defaults', () => {
  const source = "SELECT * FROM cities WHERE population > :least AND name <> ':no' AND at::date = :day"
  const draft = { ...emptyDraft('sql'), name: ' Large cities ', source, databaseId: 'd', tags: 'a, b,,a' }
  assert.deepEqual(parameterNames(draft), ['least', 'day'])
  assert.deepEqual(datasetOf({ ...draft, parameters: { least: { type: 'integer', preset: '1000' } } }), {
    type: 'sql',
    name: 'Large cities',
    source,
    databaseId: 'd',
    metadata: {
      tags: ['a', 'b'],
      parameters: [
        { name: 'least', type: 'integer', default: 1000 },
        { name: 'day', type: 'string', required: true },
      ],
    },
  })
})

test('a web service has its rows, its point and its secret headers, and no database', () => {
  const draft = {
    ...emptyDraft('rest'),
    name: 'Quakes',
    source: 'https://example.org/{year}',
    databaseId: 'd',
    rowsPath: 'data.items',
    latitude: 'lat',
    longitude: 'lon',
    headers: 'Authorization: Bearer a:b\n\nX-Key: 1',
  }
  assert.deepEqual(datasetOf(draft), {
    type: 'rest',
    name: 'Quakes',
    source: 'https://example.org/{year}',
    metadata: {
      parameters: [{ name: 'year', type: 'string', required: true }],
      rest: { path: 'data.items', point: { lat: 'lat', lon: 'lon' } },
    },
    secrets: { headers: { Authorization: 'Bearer a:b', 'X-Key': '1' } },
  })
})

test('what was filled in for another type is left behind', () => {
  const draft = { ...emptyDraft('table'), name: 'a', source: 'a', headers: 'A: b', rowsPath: 'x', latitude: 'y' }
  assert.deepEqual(datasetOf(draft), { type: 'table', name: 'a', source: 'a' })
})
