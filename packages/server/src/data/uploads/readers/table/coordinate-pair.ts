import { type PairOrder, readAxisHeading } from './coordinate-headings.ts'
import { type Angle, type MeaningOfO, parseAngle } from './degrees.ts'

/** Two coordinates in one cell, as people write them: `60.17, 24.94`, `60°10'N 24°56'E`, `(60,17; 24,94)`. */

type Pair = { first: Angle; second: Angle }

const longestPair = 120
const hemisphere = /[NSEWOÖСЮВЗ北南东東西]/giu

/**
 * The two angles of a cell, in the order in which they stand; undefined when they are not two. In a column that is known to hold pairs
 * 33,65 is one.
 */
export function parsePair(cell: string, meaningOfO?: MeaningOfO, isKnownPair = false): Pair | undefined {
  if (cell.length > longestPair || !/\d/.test(cell) || isLongList(cell)) return undefined
  const text = cell.replace(/^\s*(geo:)?\s*[([{]?\s*/i, '').replace(/[\s)\]}]+$/, '')
  for (const parts of waysToPart(text, isKnownPair)) {
    const [first, second] = parts.map((part) => parseLabelled(part.trim().replaceAll(/^"|"$/g, ''), meaningOfO))
    if (first && second && isPlausible(first, second)) return { first, second }
  }
  return undefined
}

/** In degrees in either order, and not twice the same. */
function isPlausible(first: Angle, second: Angle): boolean {
  if (first.axis !== undefined && first.axis === second.axis) return false
  const [small, large] = [Math.abs(first.degrees), Math.abs(second.degrees)].sort((a, b) => a - b)
  return (small ?? 0) <= 90 && (large ?? 0) <= 180
}

/** `Lat: 60.17` or `lon=24.94` says which one it is. */
function parseLabelled(part: string, meaningOfO: MeaningOfO | undefined): Angle | undefined {
  const [, label = '', rest = ''] = /^(\p{L}{2,12})[.:=\s]+(.+)$/u.exec(part) ?? []
  const heading = label === '' ? undefined : readAxisHeading(label)
  if (!heading) return parseAngle(part, meaningOfO)
  const angle = parseAngle(rest, meaningOfO)
  return angle && { degrees: angle.degrees, axis: angle.axis ?? heading.axis }
}

/** The texts of the two halves, the surest way to part them first. */
function* waysToPart(text: string, isKnownPair: boolean): Generator<readonly string[]> {
  // 60,17 and 60 17 are one number, unless two are expected.
  const isOneNumber = !isKnownPair && /^[+-]?\d+[, ]\d+$/.test(text)
  for (const separator of isOneNumber ? [] : [/[;|/]/, /,\s+/, /\s+,\s*/, /,/, /\s+/]) {
    const parts = text.split(separator)
    if (parts.length === 2) yield parts
  }
  // Decimal commas and a comma between them: 60,17,24,94.
  const commas = text.split(',')
  if (commas.length === 4) yield [commas.slice(0, 2).join(), commas.slice(2).join()]
  const [one, two] = [...text.matchAll(hemisphere)].map(({ index }) => index)
  if (one === undefined || two === undefined) return
  const cut = one === 0 ? two : one + 1
  yield [text.slice(0, cut), text.slice(cut).replace(/^[\s,]+/, '')].map((part) => part.replace(/[\s,]+$/, ''))
}

/** Whether a cell is a pair beyond doubt, whatever its column is called: degrees with three decimals or more, or signs. */
export function isTellingPair(cell: string, meaningOfO?: MeaningOfO): boolean {
  const pair = parsePair(cell, meaningOfO)
  if (!pair) return false
  if (pair.first.axis && pair.second.axis) return true
  // A list of two numbers may be a list of anything.
  if (isList(cell)) return false
  return (cell.match(/\d[.,]\d{3,}/g) ?? []).length === 2 || (cell.match(/[°º˚]/g) ?? []).length === 2
}

/** Whether a cell is a list of JSON, in which GeoJSON has the longitude first and others the latitude. */
export const isList = (cell: string): boolean => cell.startsWith('[')

/** A box or a colour, but no pair. */
const isLongList = (cell: string): boolean => isList(cell) && cell.split(',').length !== 2

/** The order in which the cells of a column hold their coordinates, as they themselves tell; undefined when they do not, or differ. */
export function orderInCells(cells: readonly string[], meaningOfO?: MeaningOfO): PairOrder | undefined {
  const orders = cells.flatMap((cell) => orderInCell(cell, meaningOfO) ?? [])
  const latitudeFirst = orders.filter((order) => order === 'latitude first').length
  const share = latitudeFirst / (orders.length || 1)
  if (orders.length === 0 || (share > slips && share < 1 - slips)) return undefined
  return share > 0.5 ? 'latitude first' : 'longitude first'
}

/** The share of cells that may be wrong. */
const slips = 0.05

function orderInCell(cell: string, meaningOfO: MeaningOfO | undefined): PairOrder | undefined {
  const pair = parsePair(cell, meaningOfO, true)
  if (!pair) return undefined
  const { first, second } = pair
  if (first.axis === 'latitude' || second.axis === 'longitude') return 'latitude first'
  if (first.axis === 'longitude' || second.axis === 'latitude') return 'longitude first'
  if (Math.abs(first.degrees) > 90) return 'longitude first'
  return Math.abs(second.degrees) > 90 ? 'latitude first' : undefined
}
