import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultsOf } from './faults.ts'

const faults = faultsOf([
  { path: 'body/settings/headers/X', message: 'must not be set' },
  { path: 'body/name', message: 'is required' },
])

test('faults of the API are found at their field and at what it is in, not at one whose name only begins alike', () => {
  assert.equal(faults.at('name'), 'is required')
  assert.equal(faults.at('settings'), 'must not be set')
  assert.equal(faults.at('settings/headers'), 'must not be set')
  assert.equal(faults.at('nam'), undefined)
})

test('faults of the API are found by the names of the fields of an object', () => {
  assert.deepEqual(faults.in('settings'), { headers: 'must not be set' })
  assert.deepEqual(faults.in(), { settings: 'must not be set', name: 'is required' })
})

test('faults of the API are found by their paths in a part of the body', () => {
  assert.deepEqual(faults.under('settings'), [{ path: 'headers/X', message: 'must not be set' }])
  assert.deepEqual(faults.under('name'), [{ path: '', message: 'is required' }])
  assert.deepEqual(faults.under('set'), [])
})

test('a form knows whether its fields show all that is wrong', () => {
  assert.deepEqual(
    [faults.areOf(['name', 'settings']), faults.areOf(['name']), faultsOf([]).areOf(['name'])],
    [true, false, false],
  )
  assert.deepEqual([faults.isEmpty, faultsOf([]).isEmpty], [false, true])
})
