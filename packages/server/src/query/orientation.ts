import type { Position } from './geojson.ts'

/** Shewchuk's bound: a determinant larger than this share of its terms has the right sign in spite of rounding. */
const errorShare = (3 + 16 * 2 ** -53) * 2 ** -53

/** 1 when c lies to the left of the way from a to b, -1 when to the right, 0 when on the line. Exact on the earth. */
export function orientation(a: Position, b: Position, c: Position): -1 | 0 | 1 {
  const left = (a[0] - c[0]) * (b[1] - c[1])
  const right = (a[1] - c[1]) * (b[0] - c[0])
  const determinant = left - right
  if (Math.abs(determinant) > errorShare * (Math.abs(left) + Math.abs(right))) return determinant > 0 ? 1 : -1
  return exactOrientation(a, b, c)
}

/** Doubles are fractions over a power of two: with one power for all of them only integers are left. */
function exactOrientation(a: Position, b: Position, c: Position): -1 | 0 | 1 {
  const doublings = Math.max(...[...a, ...b, ...c].map((value) => asFraction(value).doublings))
  const exact = (value: number): bigint => {
    const fraction = asFraction(value)
    return fraction.integer << BigInt(doublings - fraction.doublings)
  }
  const [cx, cy] = [exact(c[0]), exact(c[1])]
  const determinant = (exact(a[0]) - cx) * (exact(b[1]) - cy) - (exact(a[1]) - cy) * (exact(b[0]) - cx)
  return determinant > 0n ? 1 : determinant < 0n ? -1 : 0
}

function asFraction(value: number): { integer: bigint; doublings: number } {
  let scaled = value
  let doublings = 0
  while (!Number.isInteger(scaled)) {
    scaled *= 2
    doublings += 1
  }
  return { integer: BigInt(scaled), doublings }
}
