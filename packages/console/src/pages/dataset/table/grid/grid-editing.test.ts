import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextPosition } from './grid-editing.ts'
import type { GridPosition } from './grid-keyboard.ts'

test('Tab goes to the next cell that can be edited in its place, also in the next row, and stops at the ends of the table', () => {
  const extent = { rows: 3, columns: 4 }
  /** The key in column 0 and JSON in column 2 are edited in the form. */
  const isInline = ({ column }: GridPosition) => column === 1 || column === 3
  const at = (row: number, column: number) => ({ row, column })
  const moves = [
    ['next', at(0, 1), at(0, 3)],
    ['next', at(0, 3), at(1, 1)],
    ['next', at(2, 3), at(2, 3)],
    ['previous', at(1, 1), at(0, 3)],
    ['previous', at(0, 1), at(0, 1)],
    ['below', at(0, 1), at(1, 1)],
    ['below', at(2, 1), at(2, 1)],
    ['here', at(1, 3), at(1, 3)],
  ] as const
  for (const [next, from, to] of moves) assert.deepEqual(nextPosition(next, from, extent, isInline), to, next)
})
