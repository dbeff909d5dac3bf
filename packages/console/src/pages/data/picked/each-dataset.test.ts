import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failureTitle, forEachDataset } from './each-dataset.ts'

const datasets = ['Trees', 'Benches', 'Lamps'].map((name) => ({ id: name.toLowerCase(), name }))
const failures = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ name: datasets[n % 3]?.name ?? '', error: null }))

test('one that fails keeps none of the others from what is done with them', async () => {
  const seen: string[] = []
  const error = new Error('In use.')
  const outcome = await forEachDataset(datasets, async ({ id }) => {
    if (id === 'benches') throw error
    seen.push(id)
  })
  assert.deepEqual(seen, ['trees', 'lamps'])
  assert.deepEqual(outcome, { done: 2, failures: [{ name: 'Benches', error }] })
})

test('those that failed are named, of many the first three', () => {
  assert.equal(failureTitle(failures(1), 'deleted'), '“Trees” was not deleted')
  assert.equal(failureTitle(failures(2), 'tagged'), '“Trees” and “Benches” were not tagged')
  assert.equal(failureTitle(failures(3), 'tagged'), '“Trees”, “Benches” and “Lamps” were not tagged')
  assert.equal(failureTitle(failures(5), 'moved'), '“Trees”, “Benches”, “Lamps” and 2 more were not moved')
})
