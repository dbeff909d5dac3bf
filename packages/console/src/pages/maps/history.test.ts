import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec'
import { beginHistory, changed, redone, undone } from './history.ts'
import { styleDifference } from './style-difference.ts'

test('changes are undone and redone, and a slider that is dragged is one step', () => {
  let history = beginHistory('a')
  history = changed(history, 'b')
  history = changed(history, 'c', 'opacity', 1_000)
  history = changed(history, 'd', 'opacity', 1_500)
  assert.equal(undone(history).present, 'b')
  assert.equal(undone(undone(undone(history))).present, 'a')
  assert.equal(redone(undone(history)).present, 'd')
  assert.equal(undone(changed(history, 'e', 'opacity', 9_000)).present, 'd')
  assert.deepEqual(changed(undone(history), 'x').future, [])
})

const style = (paint: object, more: object = {}): StyleSpecification =>
  ({
    version: 8,
    sources: { a: { type: 'vector', url: '/a' } },
    layers: [{ id: 'p', type: 'circle', source: 'a', 'source-layer': 'x', paint, ...more }],
  }) as StyleSpecification

test('a style that differs in paint, layout, filter or zooms is changed by cheap calls', () => {
  const before = style({ 'circle-radius': 3, 'circle-blur': 1 })
  const after = style({ 'circle-radius': 4 }, { filter: ['has', 'n'], minzoom: 3, layout: { visibility: 'none' } })
  assert.deepEqual(styleDifference(before, after), [
    ['setPaintProperty', 'p', 'circle-radius', 4],
    ['setPaintProperty', 'p', 'circle-blur', undefined],
    ['setLayoutProperty', 'p', 'visibility', 'none'],
    ['setFilter', 'p', ['has', 'n']],
    ['setLayerZoomRange', 'p', 3, 24],
  ])
  assert.deepEqual(styleDifference(before, { ...before, metadata: { a: 1 }, name: 'x' }), [])
})

test('a style with other layers or sources is another one', () => {
  const before = style({})
  assert.equal(styleDifference(before, { ...before, layers: [] }), null)
  assert.equal(styleDifference(before, { ...before, sources: {} }), null)
})
