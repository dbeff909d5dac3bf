import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validateStyleMin } from '@maplibre/maplibre-gl-style-spec'
import { styleFaults } from './style-faults.ts'

const faults = (text: string) => styleFaults(text, validateStyleMin)

test('a style without faults is given back', () => {
  const style = { version: 8, sources: {}, layers: [] }
  assert.deepEqual(faults(JSON.stringify(style)), { style, faults: [] })
})

test('faults name their place', () => {
  const text =
    '{"version": 8, "sources": {}, "layers": [{"id": "a", "type": "background", "paint": {"background-color": 5}}]}'
  const [fault] = faults(text).faults
  assert.equal(fault?.path, 'layers[0].paint.background-color')
  assert.match(fault?.message ?? '', /color expected/)
})

test('texts that are no JSON, no object or no style are refused in words', () => {
  for (const text of ['{', '[]', 'null', '5', '{"version": 8, "sources": {"a": null}, "layers": [null]}', '{}']) {
    const { style, faults: found } = faults(text)
    assert.equal(style, undefined, text)
    assert.ok(found.length > 0, text)
  }
})
