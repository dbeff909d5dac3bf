import { extentOf, type Position } from '../geojson.ts'

const cells = 2 ** 16 - 1

/** The Morton code of each position, a number of 32 bits: in the order of their codes, neighbours lie close together. */
export function mortonCodes(positions: readonly Position[]): number[] {
  const { west, south, east, north } = extentOf(positions)
  const [xScale, yScale] = [cells / (east - west || 1), cells / (north - south || 1)]
  return positions.map(([x, y]) => (spread((x - west) * xScale) | (spread((y - south) * yScale) << 1)) >>> 0)
}

/** The lower sixteen bits, each followed by a 0. */
function spread(value: number): number {
  let bits = value & 0xffff
  bits = (bits | (bits << 8)) & 0x00ff00ff
  bits = (bits | (bits << 4)) & 0x0f0f0f0f
  bits = (bits | (bits << 2)) & 0x33333333
  return (bits | (bits << 1)) & 0x55555555
}
