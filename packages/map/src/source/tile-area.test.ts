import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TileBox, touchesTile } from './tile-area.ts'

test('a change touches the tiles that show its boxes or have them in their margin, across the date line too', () => {
  const tile = { z: 3, x: 4, y: 3 }
  const cases: [box: TileBox, isTouched: boolean][] = [
    [[10, 10, 10, 10], true],
    [[-1, 10, -1, 10], true],
    [[-10, 10, -10, 10], false],
    [[50, 10, 50, 10], false],
    [[10, -1, 10, -1], true],
    [[10, -10, 10, -10], false],
    [[10, 50, 10, 50], false],
    [[-180, -90, 180, 90], true],
    [[370, 10, 370, 10], true],
  ]
  for (const [box, isTouched] of cases) assert.equal(touchesTile([box], tile), isTouched, JSON.stringify(box))
  assert.equal(touchesTile([[179.9, 10, 179.9, 10]], { z: 3, x: 0, y: 3 }), true)
  assert.equal(touchesTile([[0, 90, 0, 90]], { z: 3, x: 4, y: 0 }), true)
  assert.equal(touchesTile([], tile), false)
})
