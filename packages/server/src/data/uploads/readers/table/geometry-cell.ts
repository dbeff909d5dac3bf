import { isGeoJson, type LooseGeometry } from '../../../../query/geometry/encoding/geojson-ewkb.ts'
import { parseWkb } from '../../../../query/geometry/encoding/wkb-geojson.ts'
import { looksLikeWkt, parseWkt } from '../../../../query/geometry/encoding/wkt.ts'
import type { PairOrder } from './coordinate-headings.ts'
import { parsePair } from './coordinate-pair.ts'
import { type Axis, type MeaningOfO, parseAngle } from './degrees.ts'

/** Where the geometry of a table is: in a column of text, in two or three of numbers, both in one, or nowhere. */
export type GeometryColumns =
  | { kind: 'text'; column: number }
  /** Geographic columns are called latitude and longitude; their cells may be degrees, minutes and seconds. */
  | { kind: 'xy'; x: number; y: number; z: number; isGeographic: boolean; meaningOfO?: MeaningOfO }
  | { kind: 'pair'; column: number; order: PairOrder; meaningOfO?: MeaningOfO }
  /** The sides of a rectangle. */
  | { kind: 'box'; west: number; south: number; east: number; north: number }
  | { kind: 'none' }

type Parsed = { geometry: LooseGeometry; srid?: number }

/** What is wrong with a cell that should hold a geometry or a part of one. */
export type CellFault = { column: number; value: string; problem: string }

const hexWkb = /^0[01]([0-9a-f]{2}){8,}$/i

/** Whether a cell is most likely a geometry written out: WKT, WKB or GeoJSON. */
export function looksLikeGeometry(cell: string): boolean {
  return looksLikeWkt(cell) || hexWkb.test(cell) || looksLikeJson(cell)
}

function looksLikeJson(cell: string): boolean {
  return cell.startsWith('{') && /"(coordinates|geometries)"\s*:/.test(cell)
}

/** The geometry in a cell, whichever way it is written; undefined when it is none. */
function parseGeometryCell(cell: string): Parsed | undefined {
  if (cell.startsWith('{')) return parseJson(cell)
  if (/^0[01]/.test(cell)) return hexWkb.test(cell) ? parseWkb(Buffer.from(cell, 'hex')) : undefined
  return parseWkt(cell)
}

function parseJson(cell: string): Parsed | undefined {
  try {
    const value: unknown = JSON.parse(cell)
    return isGeoJson(value) ? { geometry: value } : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const ordinate = /^\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?\s*$/i
/** 2'600'000.5, and the same with blanks, or with points and commas where only one reading is left. */
const inGroups =
  /^\s*[+-]?\d{1,3}(?:(?:['’\u00a0\u202f ]\d{3})+(?:[.,]\d+)?|(?:,\d{3})+\.\d+|(?:\.\d{3})+,\d+|(?:,\d{3}){2,}|(?:\.\d{3}){2,})\s*$/

/** A number in a cell, with a point or a comma; NaN when it is none. */
export function ordinateOf(cell: string): number {
  const quick = Number(cell)
  if (!Number.isNaN(quick)) return cell.trim() === '' ? Number.NaN : quick
  if (ordinate.test(cell)) return Number(cell.replace(',', '.'))
  return inGroups.test(cell) ? groupedOrdinate(cell) : Number.NaN
}

function groupedOrdinate(cell: string): number {
  const marks = cell.match(/[.,]/g) ?? []
  const last = marks.at(-1)
  // A mark that is there once is that of the decimals.
  const decimal = last !== undefined && marks.filter((mark) => mark === last).length === 1 ? last : undefined
  const [whole = '', fraction = '0'] = decimal === undefined ? [cell] : cell.split(decimal)
  return Number(`${whole.replaceAll(/[^\d+-]/g, '')}.${fraction.trim()}`)
}

/** A coordinate in a cell: a number, or an angle that is not one of the other axis; NaN when it is none. */
export function coordinateOf(cell: string, axis: Axis, meaningOfO?: MeaningOfO): number {
  const number = ordinateOf(cell)
  if (!Number.isNaN(number)) return number
  const angle = parseAngle(cell, meaningOfO)
  return angle && (angle.axis ?? axis) === axis ? angle.degrees : Number.NaN
}

/** What people write where there is nothing. */
const nothing = /^\s*(|n\/?a|#n\/a|null|none|nil|nan|unknown|-+|–|\?)\s*$/i

export const isNothing = (cell: string): boolean => nothing.test(cell)

type CellGeometry = { geometry: LooseGeometry | null; srid?: number } | { fault: CellFault }

const noGeometry: CellGeometry = { geometry: null }

/** The geometry of a row: null where its cells are empty, a fault where they cannot be read. */
export function geometryOfRow(row: readonly unknown[], geometryColumns: GeometryColumns): CellGeometry {
  switch (geometryColumns.kind) {
    case 'none':
      return noGeometry
    case 'xy':
      return pointOf(row, geometryColumns)
    case 'pair':
      return pairOf(row, geometryColumns)
    case 'box':
      return boxOf(row, geometryColumns)
    default:
      return writtenGeometry(row, geometryColumns.column)
  }
}

function writtenGeometry(row: readonly unknown[], column: number): CellGeometry {
  const value = row[column]
  if (isGeoJson(value)) return { geometry: value }
  const cell = textOf(value)
  if (isNothing(cell)) return noGeometry
  return parseGeometryCell(cell) ?? { fault: { column, value: cell, problem: 'is not a geometry' } }
}

function pairOf(row: readonly unknown[], place: Extract<GeometryColumns, { kind: 'pair' }>): CellGeometry {
  const { column, order, meaningOfO } = place
  const cell = textOf(row[column])
  if (isNothing(cell)) return noGeometry
  const pair = parsePair(cell, meaningOfO, true)
  if (!pair) return { fault: { column, value: cell, problem: 'is not a pair of coordinates' } }
  const { first, second } = pair
  const isLatitudeFirst = (first.axis ?? otherOf(second.axis) ?? firstOf[order]) === 'latitude'
  const [y, x] = isLatitudeFirst ? [first.degrees, second.degrees] : [second.degrees, first.degrees]
  return { geometry: { type: 'Point', coordinates: [x, y] } }
}

const firstOf = { 'latitude first': 'latitude', 'longitude first': 'longitude' } as const

function otherOf(axis: Axis | undefined): Axis | undefined {
  return axis && (axis === 'latitude' ? 'longitude' : 'latitude')
}

function pointOf(row: readonly unknown[], place: Extract<GeometryColumns, { kind: 'xy' }>): CellGeometry {
  const [xCell, yCell] = [textOf(row[place.x]), textOf(row[place.y])]
  if (isNothing(xCell) || isNothing(yCell)) return noGeometry
  const x = readOrdinate(xCell, 'longitude', place)
  const y = readOrdinate(yCell, 'latitude', place)
  if (!Number.isFinite(x)) return { fault: { column: place.x, value: xCell, problem: problemOf('longitude', place) } }
  if (!Number.isFinite(y)) return { fault: { column: place.y, value: yCell, problem: problemOf('latitude', place) } }
  const height = place.z >= 0 ? ordinateOf(textOf(row[place.z])) : Number.NaN
  return { geometry: { type: 'Point', coordinates: Number.isFinite(height) ? [x, y, height] : [x, y] } }
}

function boxOf(row: readonly unknown[], place: Extract<GeometryColumns, { kind: 'box' }>): CellGeometry {
  const columns = [place.west, place.south, place.east, place.north]
  const cells = columns.map((column) => textOf(row[column]))
  if (cells.some(isNothing)) return noGeometry
  const numbers = cells.map(ordinateOf)
  const wrong = numbers.findIndex((number) => !Number.isFinite(number))
  if (wrong >= 0) {
    return { fault: { column: columns[wrong] ?? 0, value: cells[wrong] ?? '', problem: 'is not a coordinate' } }
  }
  const [west = 0, south = 0, east = 0, north = 0] = numbers
  if (south > north) {
    return { fault: { column: place.north, value: cells[3] ?? '', problem: 'is less than the south of the same row' } }
  }
  if (west <= east) return { geometry: { type: 'Polygon', coordinates: [ringOf(west, south, east, north)] } }
  if (west > 180 || east < -180) {
    return { fault: { column: place.east, value: cells[2] ?? '', problem: 'is less than the west of the same row' } }
  }
  // Across the antimeridian, cut there as RFC 7946 says.
  const sides = [
    [west, 180],
    [-180, east],
  ] as const
  // A box that ends there has one part only.
  const wide = sides.filter(([left, right]) => left < right)
  const parts = (wide.length > 0 ? wide : sides).map(([left, right]) => [ringOf(left, south, right, north)])
  return { geometry: { type: 'MultiPolygon', coordinates: parts } }
}

const ringOf = (west: number, south: number, east: number, north: number): number[][] => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]

function readOrdinate(cell: string, axis: Axis, place: Extract<GeometryColumns, { kind: 'xy' }>): number {
  return place.isGeographic ? coordinateOf(cell, axis, place.meaningOfO) : ordinateOf(cell)
}

function problemOf(axis: Axis, { isGeographic }: Extract<GeometryColumns, { kind: 'xy' }>): string {
  return isGeographic ? `is not a ${axis}` : 'is not a coordinate'
}

function textOf(cell: unknown): string {
  return cell === null || cell === undefined ? '' : String(cell)
}
