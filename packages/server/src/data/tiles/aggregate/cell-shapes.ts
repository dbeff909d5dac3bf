// The shapes and the properties of cells.
import { cellToBoundary, splitLongToH3Index } from 'h3-js'
import type { Geometry, Position } from '../../../query/geometry/geojson.ts'
import type { CellScheme, CellValue } from '../../../query/plan/cell-aggregate.ts'
import { nameOf } from './cell-keys.ts'
import { type CellTable, cellFields, cellValue, strideOf } from './cell-table.ts'
import { latitudeAt, longitudeAt, squaresOf } from './squares.ts'

const turn = 360
const pole = 90

/** Beyond ±180 where it crosses the antimeridian. */
export function shapeOfCell({ scheme, cells, attributes }: CellTable, index: number): Geometry {
  const at = index * strideOf(attributes)
  const [high, low] = [cells[at + cellFields.high] as number, cells[at + cellFields.low] as number]
  if (scheme.kind === 'h3') return hexagon(splitLongToH3Index(low, high))
  if (scheme.kind === 'grid') return square(scheme, high, low)
  const count = cells[at + cellFields.count] as number
  const x = longitudeAt((cells[at + cellFields.sumX] as number) / count)
  const y = latitudeAt((cells[at + cellFields.sumY] as number) / count)
  return { type: 'Point', coordinates: [rounded(x), rounded(y)] }
}

/** A tenth of a millimetre. */
const rounded = (degrees: number): number => Math.round(degrees * 1e9) / 1e9

function square(scheme: CellScheme & { kind: 'grid' }, column: number, row: number): Geometry {
  const size = squaresOf(scheme)
  const [west, east] = [longitudeAt(column / size), longitudeAt((column + 1) / size)]
  const [north, south] = [latitudeAt(row / size), latitudeAt((row + 1) / size)]
  return {
    type: 'Polygon',
    coordinates: [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ],
    ],
  }
}

function hexagon(cell: string): Geometry {
  const ring: Position[] = []
  let before: number | undefined
  for (const [latitude, longitude] of cellToBoundary(cell)) {
    // The next corner is on the nearer side, so that longitudes go on over the antimeridian.
    const x: number = before === undefined ? longitude : before + nearer(longitude - before)
    ring.push([x, latitude])
    before = x
  }
  const [first = [0, 0] as Position] = ring
  const round = nearer(first[0] - (before ?? 0)) + (before ?? 0) - first[0]
  const closed = Math.abs(round) < turn / 2 ? [...ring, first] : overPole(ring, first, Math.sign(round))
  return { type: 'Polygon', coordinates: [closed] }
}

const nearer = (degrees: number): number => degrees - turn * Math.round(degrees / turn)

/** A ring that goes round a pole is open there: it goes along the edge of the map. */
function overPole(ring: readonly Position[], first: Position, direction: number): Position[] {
  const edge = ring.every(([, y]) => y > 0) ? pole : -pole
  const end = first[0] + direction * turn
  return [...ring, [end, first[1]], [end, edge], [first[0], edge], first]
}

/** The properties of a cell in the order of its columns. */
export function propertiesOfCell(
  table: CellTable,
  index: number,
  values: readonly CellValue[],
): (string | number | boolean | null)[] {
  const { scheme, cells, attributes } = table
  const at = index * strideOf(attributes)
  const [high, low] = [cells[at + cellFields.high] as number, cells[at + cellFields.low] as number]
  const count = cells[at + cellFields.count] as number
  const name = nameOf(scheme, { high, low })
  const figures = values.map((value) => cellValue(table, index, value))
  if (scheme.kind !== 'cluster') return [name, count, ...figures]
  const ofMany = count > 1 ? [true, name, count, abbreviated(count)] : [null, null, null, null]
  return [name, count, ...figures, ...ofMany]
}

function abbreviated(count: number): string {
  if (count >= 10_000) return `${Math.round(count / 1_000)}k`
  return count >= 1_000 ? `${Math.round(count / 100) / 10}k` : String(count)
}
