import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { chosenCells } from '../workers/cell-rows.ts'
import { createRowCache, type RowCache } from './row-cache.ts'

const point = (x: number, y: number) => JSON.stringify({ type: 'Point', coordinates: [x, y] })
const batchesOf = (rows: (string | null)[][]) =>
  (async function* () {
    yield rows
  })()
const asked = { margin: 0, signal: new AbortController().signal }

async function inTile(
  kept: RowCache,
  key: string,
  rows: (string | null)[][],
  tile = { z: 0, x: 0, y: 0 },
  owner = 'us',
) {
  let reads = 0
  const found = await kept.inTile(owner, key, {
    ...asked,
    tile,
    async read() {
      reads++
      return batchesOf(rows)
    },
  })
  const names = found && 'chosen' in found ? [...chosenCells(found)].map(([, name]) => name) : undefined
  return { names, reads }
}

describe('kept rows', () => {
  const rows = [
    [point(10, 50), 'north-east'],
    [null, 'nowhere'],
    [point(-10, -50), 'Südwest 地'],
    [point(190, -50), 'wrapped'],
    [
      JSON.stringify({
        type: 'LineString',
        coordinates: [
          [-1, -1],
          [1, 1],
        ],
      }),
      'across',
    ],
    [JSON.stringify({ type: 'Circle' }), 'unknown'],
  ]

  test('are read once, and each tile gets those that can touch it', async () => {
    const kept = createRowCache()
    assert.deepEqual(await inTile(kept, 'a', rows), {
      names: ['north-east', 'Südwest 地', 'wrapped', 'across', 'unknown'],
      reads: 1,
    })
    const at = async (x: number, y: number) => inTile(kept, 'a', rows, { z: 1, x, y })
    assert.deepEqual(await at(1, 0), { names: ['north-east', 'across', 'unknown'], reads: 0 })
    assert.deepEqual(await at(0, 1), { names: ['Südwest 地', 'wrapped', 'across', 'unknown'], reads: 0 })
    assert.equal((await inTile(kept, 'b', rows)).reads, 1)
  })

  test('are read once for all who ask at the same time', async () => {
    const kept = createRowCache()
    const found = await Promise.all(Array.from({ length: 20 }, () => inTile(kept, 'a', rows)))
    assert.equal(
      found.reduce((sum, { reads }) => sum + reads, 0),
      1,
    )
    assert.ok(found.every(({ names }) => names?.length === 5))
  })

  test('give way when there are too many of them, and those that never fit are not kept', async () => {
    const kept = createRowCache(8_000)
    const some = [[point(1, 1), 'x'.repeat(1_500)]]
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) assert.equal((await inTile(kept, key, some)).reads, 1)
    assert.equal((await inTile(kept, 'f', some)).reads, 0)
    assert.equal((await inTile(kept, 'a', some)).reads, 1)
    const many = [[point(1, 1), 'x'.repeat(3_000)]]
    assert.deepEqual(await inTile(kept, 'large', many), { names: undefined, reads: 1 })
    assert.deepEqual(await inTile(kept, 'large', many), { names: undefined, reads: 0 })
  })

  test('of one application do not push out those of another', async () => {
    const kept = createRowCache(8_000)
    const some = [[point(1, 1), 'x'.repeat(1_000)]]
    const of = (owner: string, key: string) => inTile(kept, key, some, undefined, owner)
    await of('small', 'a')
    for (let index = 0; index < 20; index++) await of('large', `${index}`)
    assert.equal((await of('small', 'a')).reads, 0)
    assert.equal((await of('large', '0')).reads, 1)
  })

  test('are not kept when reading them fails', async () => {
    const kept = createRowCache()
    const fail = { ...asked, tile: { z: 0, x: 0, y: 0 }, read: async () => Promise.reject(new Error('no')) }
    await assert.rejects(kept.inTile('us', 'a', fail), /no/)
    assert.equal((await inTile(kept, 'a', rows)).reads, 1)
  })
})
