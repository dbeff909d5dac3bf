import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { raw } from '../../../kernel/db/sql.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { chooseStrategy, nextStrategy, type TileFacts } from './tile-strategy.ts'

const facts: TileFacts = {
  isInSql: true,
  isInBlocks: false,
  isFiltered: false,
  hasOverview: true,
  geometryType: 'point',
  zoom: 5,
  cluster: undefined,
}

describe('the strategy of a tile', () => {
  const cases: [string, Partial<TileFacts>, object][] = [
    ['a source without SQL is read into memory', { isInSql: false }, { from: 'memory' }],
    ['rows of an engine without PostGIS are cut here', { isInSql: false, isInBlocks: true }, { from: 'blocks' }],
    ['a crowded tile is made of its overview', {}, { from: 'overview' }],
    ['a tile without an overview is made of the table', { hasOverview: false }, { from: 'table' }],
    ['a filter needs the rows of the table', { isFiltered: true }, { from: 'table' }],
    ['clusters are made of the overview', { cluster: { maxZoom: 5 } }, { from: 'overview', clusterWidth: 3 / 32 }],
    [
      'clusters wider than the fringe of an overview are made of the table',
      { cluster: { maxZoom: 5, radius: 512 } },
      { from: 'table', clusterWidth: 1 },
    ],
    ['there are no clusters above their highest zoom', { cluster: { maxZoom: 4 } }, { from: 'overview' }],
    ['only points are clustered', { cluster: { maxZoom: 5 }, geometryType: 'polygon' }, { from: 'overview' }],
  ]
  for (const [name, given, strategy] of cases)
    test(name, () => assert.deepEqual(chooseStrategy({ ...facts, ...given }), strategy))
})

describe('after a failure a tile', () => {
  const refused = new ApiError('conflict', 'relation "svc_ov_1" does not exist')
  const transform = new ApiError('invalid_request', 'transform: Point outside of projection domain')
  const projection = { definitions: { 2056: '+proj=somerc' }, box: 'anywhere' } as const
  const found = async () => projection
  const none = async () => undefined

  test('of an overview that is gone is made of the table, in the same clusters', async () => {
    const next = await nextStrategy({ from: 'overview', clusterWidth: 1 }, refused, none)
    assert.deepEqual(next, { from: 'table', clusterWidth: 1 })
  })
  test('whose database cannot transform a place is projected outside of it, without clusters', async () => {
    const next = await nextStrategy({ from: 'table', clusterWidth: 1 }, transform, found)
    assert.deepEqual(next, { from: 'table', projection })
  })
  test('that the database could not thin is made of the table', async () => {
    const thinning = { rate: 0.1, cellBits: 5, isPoint: true, rank: raw('0'), read: 'all' } as const
    assert.deepEqual(await nextStrategy({ from: 'thinned', thinning }, refused, none), { from: 'table' })
    assert.equal(await nextStrategy({ from: 'thinned', thinning }, new Error('connection lost'), none), undefined)
    const next = await nextStrategy({ from: 'overview', thinning }, refused, none)
    assert.deepEqual(next, { from: 'thinned', thinning }, 'by the same rule as its neighbours')
  })
  test('is not tried again where nothing else could succeed', async () => {
    assert.equal(await nextStrategy({ from: 'table' }, transform, none), undefined)
    assert.equal(await nextStrategy({ from: 'table', projection }, transform, found), undefined)
    assert.equal(await nextStrategy({ from: 'table' }, refused, found), undefined)
    assert.equal(await nextStrategy({ from: 'memory' }, transform, found), undefined)
    assert.equal(await nextStrategy({ from: 'overview' }, new Error('connection lost'), found), undefined)
  })
})
