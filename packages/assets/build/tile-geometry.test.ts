import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cleanFeature, type TileFeature, type TilePoint } from './tile-geometry.ts'

const feature = (type: 2 | 3, geometry: TilePoint[][]): TileFeature => ({ type, geometry, tags: {} })
const cleaned = (type: 2 | 3, ...parts: TilePoint[][]) => cleanFeature(feature(type, parts))?.geometry
const square = (x: number, size: number): TilePoint[] => [
  [x, x],
  [x + size, x],
  [x + size, x + size],
  [x, x + size],
  [x, x],
]
const hole = (x: number, size: number): TilePoint[] => square(x, size).toReversed()

test('a line loses repeated points, and goes when it has no length', () => {
  const bent: TilePoint[] = [
    [0, 0],
    [0, 0],
    [4, 0],
    [4, 0],
    [4, 4],
  ]
  assert.deepEqual(cleaned(2, bent, [...square(5, 0)]), [
    [
      [0, 0],
      [4, 0],
      [4, 4],
    ],
  ])
  assert.equal(cleaned(2, square(5, 0)), undefined)
})

test('a ring of two points, a ring without area and a spike are left out', () => {
  const twoPoints: TilePoint[] = [
    [0, 0],
    [9, 9],
    [0, 0],
  ]
  assert.equal(cleaned(3, twoPoints), undefined)
  const withSpike = [...square(0, 8).slice(0, 2), [20, 0], [8, 0], ...square(0, 8).slice(2)] as TilePoint[]
  assert.deepEqual(cleaned(3, withSpike), [square(0, 8)])
})

test('a hole follows the exterior ring around it, also when another ring stands between them', () => {
  const [shell, island, lake] = [square(0, 40), square(60, 4), hole(10, 8)]
  const [first, second, third] = cleaned(3, shell, island, lake) as TilePoint[][]
  assert.deepEqual([first, second?.length, third], [shell, lake.length, island])
})

test('a hole goes with its exterior ring', () => {
  assert.equal(cleaned(3, square(0, 0), hole(10, 8)), undefined)
})
