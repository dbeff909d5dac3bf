import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { borderTest, cellCounts, type SeamRow } from '../../../../testing/thinning/seams.ts'
import { createMemoryThinning, type MemoryRows } from './memory-thinning.ts'

const budget = { maxFeatures: 2_000, maxBytes: 500_000 }

/** A sequence without a pattern that a test could see (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Two clusters and one row that lies alone. */
function rowsOf(count: number, side = 0, sizeOf = (random: () => number): number => random() ** 3): MemoryRows {
  const random = randomFrom(Number(process.env.TEST_SEED ?? 1))
  const boxes = Array.from({ length: count }, (_, row) => {
    const spread = row % 2 ? 0.5 : 4
    const [lon, lat] = [8, 47].map((middle) => middle + spread * (random() + random() + random() + random() - 2))
    const [west = 0, south = 0] = row === 0 ? [-120, -40] : [lon, lat]
    const half = (side * sizeOf(random)) / 2
    return [west - half, south - half, west + half, south + half]
  })
  const texts = boxes.map((box, row) => Buffer.from(JSON.stringify(['g', String(row), box])))
  const bytes = new SharedArrayBuffer(texts.reduce((sum, text) => sum + text.length, 0))
  const starts = new Int32Array(count + 1)
  const all = Buffer.from(bytes)
  for (const [row, text] of texts.entries()) starts[row + 1] = (starts[row] ?? 0) + text.copy(all, starts[row])
  return { bytes, starts, boxes: Float64Array.from(boxes.flat()), geometryBytes: 30 * count }
}

const height = (lat: number): number => 0.5 - Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI)

const placesOf = ({ boxes }: MemoryRows): SeamRow[] =>
  Array.from({ length: boxes.length / 4 }, (_, id) => {
    const [west = 0, south = 0, east = 0, north = 0] = boxes.subarray(4 * id, 4 * id + 4)
    const [top, bottom] = [height(north), height(south)]
    return {
      id,
      x: (west + east) / 720 + 0.5,
      y: (top + bottom) / 2,
      width: Math.max((east - west) / 360, bottom - top),
    }
  })

describe('rows in memory', () => {
  for (const [name, side] of [
    ['points', 0],
    ['areas', 0.4],
  ] as const) {
    test(`that are ${name} are thinned without seams, lose no row while zooming in, and stand for all rows`, () => {
      const rows = rowsOf(16_000, side)
      const places = placesOf(rows)
      const thinning = createMemoryThinning(rows, budget)
      let before = new Set<number>()
      let compared = 0
      for (let zoom = 0; zoom < 12; zoom++) {
        const counts = thinning.at(zoom)
        const shown = new Set(places.filter(({ id }) => counts?.[id] !== 0).map(({ id }) => id))
        assert.deepEqual(
          [...before].filter((row) => !shown.has(row)),
          [],
          `zoom ${zoom}`,
        )
        before = shown
        assert.ok(shown.has(0), 'what lies alone is shown')
        if (!counts) continue
        assert.equal(
          counts.reduce((sum, count) => sum + count, 0),
          places.length,
        )
        const { probability, borders } = borderTest(places, shown, zoom, cellCounts(places, zoom))
        compared += borders
        assert.ok(probability > 1e-4, `zoom ${zoom}: p = ${probability} over ${borders} borders`)
      }
      assert.ok(compared >= 10, String(compared))
      assert.equal(before.size, places.length, 'high zooms show all')
    })
  }

  test('that are large do not stand for small ones: shown areas stand for about the area of all', () => {
    const rows = rowsOf(16_000, 0.002, (random) => Math.min(100, 1 / (1 - random())))
    const thinning = createMemoryThinning(rows, budget)
    const areas = placesOf(rows).map(({ width }) => width ** 2)
    const zooms = [3, 4, 5, 6, 7, 8].filter((zoom) => thinning.at(zoom))
    assert.ok(zooms.length >= 4, zooms.join())
    for (const zoom of zooms) {
      const counts = thinning.at(zoom)
      const all = areas.reduce((sum, area) => sum + area, 0)
      const ratio = areas.reduce((sum, area, row) => sum + area * (counts?.[row] ?? 0), 0) / all
      // Areas of a class differ by a factor of four.
      assert.ok(ratio > 1 / 2 && ratio < 2, `zoom ${zoom}: ${ratio.toFixed(2)} times the area`)
    }
  })

  test('that fit are not thinned', () => {
    assert.equal(createMemoryThinning(rowsOf(1_500), budget).at(0), undefined)
  })
})
