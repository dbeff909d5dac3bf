// Which cell a place is in, and the names of cells.
import { h3IndexToSplitLong, latLngToCell, splitLongToH3Index } from 'h3-js'
import type { CellScheme } from '../../../query/plan/cell-aggregate.ts'
import { fractionX, fractionY, squaresOf } from './squares.ts'

export type CellKey = { high: number; low: number }

/** Writes the cell of a place into `key`. */
export function keyOf(scheme: CellScheme, longitude: number, latitude: number, key: CellKey): void {
  if (scheme.kind === 'h3') {
    const [low, high] = h3IndexToSplitLong(latLngToCell(latitude, longitude, scheme.resolution))
    key.high = high as number
    key.low = low as number
    return
  }
  const squares = squaresOf(scheme)
  const y = fractionY(latitude)
  const most = Math.ceil(squares) - 1
  key.high = Math.min(most, Math.floor(fractionX(longitude) * squares))
  key.low = Math.min(most, Math.max(0, Math.floor((scheme.kind === 'cluster' ? 1 - y : y) * squares)))
}

/** The index of a hexagon, `z/x/y` of a square, the number of a cluster. */
export function nameOf(scheme: CellScheme, { high, low }: CellKey): string {
  if (scheme.kind === 'h3') return splitLongToH3Index(low, high)
  if (scheme.kind === 'grid') return `${scheme.zoom}/${high}/${low}`
  return String(BigInt(low) * BigInt(Math.ceil(squaresOf(scheme))) + BigInt(high))
}
