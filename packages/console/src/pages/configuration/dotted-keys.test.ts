import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dottedKeys, matchingKeys, readConfiguration } from './dotted-keys.ts'

const config = { theme: { colour: '#2a6', font: { size: 12 } }, layers: ['a'], empty: {}, 'with.dot': 1, off: null }

test('values are listed by the keys that the API takes', () => {
  assert.deepEqual(
    dottedKeys(config).map(({ key }) => key),
    ['theme.colour', 'theme.font.size', 'layers', 'empty', 'off'],
  )
})

test('a search finds keys and values by all of its words', () => {
  const found = (search: string) => matchingKeys(dottedKeys(config), search).map(({ key }) => key)
  assert.deepEqual(found('THEME 12'), ['theme.font.size'])
  assert.deepEqual(found('2a6'), ['theme.colour'])
  assert.equal(found('').length, 5)
})

test('only an object without the server’s own key is a configuration', () => {
  assert.deepEqual(readConfiguration('{"a": 1}'), { config: { a: 1 } })
  assert.match(readConfiguration('{"a": }').fault ?? '', /not JSON/)
  assert.match(readConfiguration('[1]').fault ?? '', /must be an object/)
  assert.match(readConfiguration('{"svc": {}}').fault ?? '', /reserved/)
})
