import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileName } from './export.ts'

test('a file is named after the dataset, without what file systems do not take', () => {
  assert.equal(fileName('Cities of the world', 'csv'), 'Cities of the world.csv')
  assert.equal(fileName('Zürich: 2026/27 "new"', 'geojson'), 'Zürich- 2026-27 -new-.geojson')
  assert.equal(fileName('…', 'json'), '-.json')
  assert.equal(fileName('', 'json'), 'rows.json')
  assert.equal(fileName('towns', 'shp'), 'towns.zip')
})
