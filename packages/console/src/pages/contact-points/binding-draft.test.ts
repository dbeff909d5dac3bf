import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultsOf } from '../../components/faults/faults.ts'
import { type Binding, describeBinding, draftOfBinding, faultsOfBinding, readDraft } from './binding-draft.ts'

const binding: Binding = {
  datasetId: 'd',
  operations: ['insert', 'update'],
  filter: { depth: { $gte: 10 } },
  bbox: [5.8, 47.2, 15.1, 55.1],
  debounceSeconds: 30,
  lastEventId: 'a.1.1',
  problem: null,
}

test('a binding goes through the form unchanged', () => {
  const { lastEventId: _, problem: __, ...given } = binding
  assert.deepEqual(readDraft(draftOfBinding(binding)), { binding: given })
})

test('a new one has every operation, no filter, no box and no delay', () => {
  assert.deepEqual(readDraft({ ...draftOfBinding(), datasetId: 'd' }), {
    binding: {
      datasetId: 'd',
      operations: ['insert', 'update', 'delete', 'truncate'],
      filter: null,
      bbox: null,
      debounceSeconds: 0,
    },
  })
})

test('every wrong field is named', () => {
  const draft = draftOfBinding()
  const box = { ...draft.box, West: '7' }
  const read = readDraft({ ...draft, operations: [], filter: '[1]', box, debounce: '1.5' })
  assert.ok('faults' in read)
  assert.deepEqual(Object.keys(read.faults), ['datasetId', 'operations', 'filter', 'bbox', 'debounceSeconds'])
  for (const filter of ['{', '"text"', 'null', '[]']) {
    const one = readDraft({ ...draft, datasetId: 'd', filter })
    assert.ok('faults' in one && one.faults.filter, filter)
  }
  for (const debounce of ['', '-1', '3601', 'x', '1e3']) {
    const one = readDraft({ ...draft, datasetId: 'd', debounce })
    assert.ok('faults' in one && one.faults.debounceSeconds, debounce)
  }
})

test('a box may cross the date line, but not be upside down', () => {
  const read = (West: string, South: string, East: string, North: string) =>
    readDraft({ ...draftOfBinding(), datasetId: 'd', box: { West, South, East, North } })
  assert.ok('binding' in read('170', '-20', '-170', '20'))
  assert.ok('faults' in read('170', '20', '-170', '-20'))
  assert.ok('faults' in read('181', '0', '182', '1'))
  assert.ok('faults' in read('a', '0', '1', '1'))
})

test('what the server finds wrong is shown at the field', () => {
  const faults = faultsOf([
    { path: 'body/bindings/1/filter/deep', message: 'is no attribute' },
    { path: 'body/bindings/1/bbox', message: 'must be a box' },
    { path: 'body/bindings/0/filter', message: 'of another one' },
  ])
  assert.deepEqual(faultsOfBinding(faults, 1), { filter: 'deep is no attribute', bbox: 'must be a box' })
})

test('a binding reads as a sentence', () => {
  assert.equal(
    describeBinding(binding),
    'inserts and updates, of rows that match {"depth":{"$gte":10}}, in the box 5.8, 47.2, 15.1, 55.1, gathered for 30 s',
  )
  const { operations } = draftOfBinding()
  const all = { ...binding, operations: [...operations], filter: null, bbox: null, debounceSeconds: 0 }
  assert.equal(describeBinding(all), 'every change')
})
