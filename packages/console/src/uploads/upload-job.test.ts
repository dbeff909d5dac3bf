import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Upload } from '@graticule/client'
import { failureOf, resultsOf, stepOf } from './upload-job.ts'

const failed = (error: Upload['error']) => failureOf({ error, fileName: 'b.gpkg' })

test('a failure names its place in the file unless the server’s words do so already', () => {
  assert.equal(failed({ message: 'Too large.', feature: 812 }), 'At feature 812: Too large.')
  assert.equal(failed({ message: 'Row on line 7 is broken.', line: 7 }), 'Row on line 7 is broken.')
  assert.equal(failed({ message: 'No.', layer: 'a', line: 2 }), 'At layer “a”, line 2: No.')
  assert.equal(failed({}), 'The upload failed.')
})

test('each layer leads to its dataset, and an archive of tiles to its tile source', () => {
  const layers = [
    { layer: 'roads', datasetId: 'r', tileSourceId: 'r', featureCount: 1 },
    { layer: 'notes', datasetId: 'n', tileSourceId: null, featureCount: 1 },
  ]
  assert.deepEqual(resultsOf({ results: layers } as unknown as Upload), [
    { label: 'roads', to: '/data/r/table', shows: 'map' },
    { label: 'notes', to: '/data/n/table', shows: 'table' },
  ])
  const tiles = { results: [], datasetId: null, tileSourceId: 't', fileName: 'a.pmtiles' }
  assert.deepEqual(resultsOf(tiles as unknown as Upload), [{ label: 'a.pmtiles', to: '/tiles/t', shows: 'tiles' }])
})

test('an upload that waits for its turn is received, whatever stage an earlier attempt had reached', () => {
  assert.equal(stepOf({ status: 'pending', stage: 'loading' }), 'Received')
  assert.equal(stepOf({ status: 'processing', stage: null }), 'Received')
  assert.equal(stepOf({ status: 'processing', stage: 'scanning' }), 'Reading')
  assert.equal(stepOf({ status: 'processing', stage: 'publishing' }), 'Drawing')
})
