// Winding numbers at sample points: a cheap test of whether what rounding did to a polygon can be seen.
import type { Edges } from './edges.ts'

/** The distance of the samples: a tile of 4096 units is drawn with some 512 pixels. */
const spacing = 8
const half = 0.5

let steps = new Int16Array(1024)

/**
 * Whether the winding numbers of some rings are 0 or 1 at each of a lattice of points. Where rings of many edges meet although
 * that is so, then only because their points were rounded to units, and what is wrong is too small to be seen.
 */
export function isPlainAtSamples(edges: Edges, first: number, last: number): boolean {
  const { ax, ay, bx, by } = edges
  let left = Number.POSITIVE_INFINITY
  let right = 0
  let low = Number.POSITIVE_INFINITY
  let high = 0
  for (let edge = first; edge <= last; edge++) {
    left = Math.min(left, ax[edge])
    right = Math.max(right, bx[edge])
    low = Math.min(low, ay[edge], by[edge])
    high = Math.max(high, ay[edge], by[edge])
  }
  const columns = Math.floor((right - left) / spacing) + 2
  const rows = Math.floor((high - low) / spacing) + 1
  if (steps.length < columns * rows) steps = new Int16Array(columns * rows)
  steps.fill(0, 0, columns * rows)
  for (let edge = first; edge <= last; edge++) addSteps(edges, edge, left, low, columns)
  for (let row = 0; row < rows; row++) {
    let winding = 0
    for (let index = row * columns; index < (row + 1) * columns; index++) {
      winding += steps[index]
      if (winding !== 0 && winding !== 1) return false
    }
  }
  return true
}

/** Notes the edge in each row of samples that it crosses, at the first sample to the right of it. */
function addSteps({ ax, ay, bx, by, wind }: Edges, edge: number, left: number, low: number, columns: number): void {
  const fromX = ax[edge]
  const fromY = ay[edge]
  const dy = by[edge] - fromY
  // Samples lie between the units, so no edge ends at one.
  const start = Math.ceil(((dy > 0 ? fromY : fromY + dy) - low - half) / spacing)
  const end = Math.floor(((dy > 0 ? fromY + dy : fromY) - low - half) / spacing)
  const slope = (bx[edge] - fromX) / dy
  const step = dy > 0 === wind[edge] > 0 ? -1 : 1
  for (let row = start; row <= end; row++) {
    const x = fromX + (row * spacing + half + low - fromY) * slope
    const index = row * columns + Math.floor((x - left - half) / spacing) + 1
    steps[index] = steps[index] + step
  }
}
