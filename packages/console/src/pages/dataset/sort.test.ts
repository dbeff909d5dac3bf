import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatSort, parseSort, toggleSort } from './sort.ts'

const toggled = (text: string, attribute: string, isAdded = false) =>
  formatSort(toggleSort(parseSort(text), attribute, isAdded))

test('a click sorts upwards, the next one downwards, the third not at all', () => {
  assert.equal(toggled('', 'pop'), 'pop')
  assert.equal(toggled('pop', 'pop'), '-pop')
  assert.equal(toggled('-pop', 'pop'), undefined)
  assert.equal(toggled('name', 'pop'), 'pop')
})

test('with shift the other keys stay where they are', () => {
  assert.equal(toggled('-pop', 'name', true), '-pop,name')
  assert.equal(toggled('pop,name', 'pop', true), '-pop,name')
  assert.equal(toggled('-pop,name', 'pop', true), 'name')
})
