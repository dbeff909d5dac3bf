import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dataset } from '@graticule/client'
import { addedLast, isNewTenant, mapDatasets, totalRows, unionOf } from './map-dataset.ts'

const dataset = (id: string, createdAt: string, geometryType?: string) =>
  ({
    id,
    createdAt,
    attributes: geometryType ? [{ name: 'geom', type: 'geometry', geometryType }] : [],
  }) as unknown as Dataset

test('datasets without a geometry are not on the map; the others keep their colour in any order', () => {
  const [old, middle, late] = [
    dataset('a', '2026-01-01', 'MultiPolygon'),
    dataset('b', '2026-01-02'),
    dataset('c', '2026-01-03', 'LineString'),
  ] as const
  const one = mapDatasets([late, middle, old])
  const other = mapDatasets([old, late])
  assert.deepEqual(
    one.map(({ dataset: { id }, shape }) => [id, shape]),
    [
      ['c', 'line'],
      ['a', 'area'],
    ],
  )
  assert.equal(one[0]?.colour.light, other[1]?.colour.light)
  assert.notEqual(one[0]?.colour.light, one[1]?.colour.light)
})

test('the first view holds all extents that are known', () => {
  assert.deepEqual(unionOf([[5, 45, 11, 48], undefined, [-3, 50, 2, 59]]), [-3, 45, 11, 59])
  assert.equal(unionOf([undefined, []]), undefined)
})

test('rows are added up only where all are known', () => {
  assert.equal(totalRows([{ rowEstimate: 4442 }, { rowEstimate: 1_000_000 }]), 1_004_442)
  assert.equal(totalRows([{ rowEstimate: 4442 }, { rowEstimate: null }]), undefined)
})

test('a tenant with the sample alone is new', () => {
  assert.equal(isNewTenant([]), true)
  assert.equal(isNewTenant([{ metadata: { tags: ['sample'] } }]), true)
  assert.equal(isNewTenant([{ metadata: { tags: ['sample'] } }, { metadata: {} }]), false)
})

test('what was added last are the datasets of one upload, however often others are changed', () => {
  const datasets = [
    dataset('old', '2026-01-01T00:00:00.000Z'),
    dataset('roads', '2026-03-01T12:00:00.012Z'),
    dataset('places', '2026-03-01T12:00:00.020Z'),
    dataset('before', '2026-03-01T11:59:59.000Z'),
  ]
  assert.deepEqual(addedLast(datasets), ['roads', 'places'])
  assert.deepEqual(addedLast([]), [])
})
