import type { Cell } from './csv-rows.ts'
import type { LooseGeometry } from './wkb-geometry.ts'
import { parseWkb } from './wkb-loose.ts'
import { looksLikeWkt, parseWkt } from './wkt.ts'

/** Where the geometry of a table is: in a column of text, in two or three of numbers, or nowhere. */
export type GeometryPlace =
  | { kind: 'text'; column: number }
  | { kind: 'xy'; x: number; y: number; z: number }
  | { kind: 'none' }

type Parsed = { geometry: LooseGeometry; srid?: number }

const geometryNames =
  /^(wkt|ewkt|wkb|ewkb|geom|geometry|geojson|the_geom|wkb_geometry|shape|_?wkt_?geom(etry)?|geom_?wkt)$/i

/** Names of x and y that belong together, the surest first; a z may come with them. */
const pairs: readonly (readonly [RegExp, RegExp])[] = [
  [/^(lon|lng|long|longitude)$/i, /^(lat|latitude)$/i],
  [
    /^(.*[ _-])?(lon|lng|long|longitude)([ _-]?(deg|dd|wgs ?84))?$/i,
    /^(.*[ _-])?(lat|latitude)([ _-]?(deg|dd|wgs ?84))?$/i,
  ],
  [/^(x|x_?coord(inate)?|coord(inate)?_?x|point_?x)$/i, /^(y|y_?coord(inate)?|coord(inate)?_?y|point_?y)$/i],
  [/^(easting|east)s?$/i, /^(northing|north)s?$/i],
]
const zName = /^(z|z_?coord(inate)?|coord(inate)?_?z|point_?z)$/i

/** Finds the geometry by the names of the columns and a sample of their cells. */
export function findGeometry(names: readonly string[], sample: readonly (readonly Cell[])[]): GeometryPlace {
  const cellsOf = (column: number) =>
    sample.map((row) => row[column] ?? null).filter((cell) => cell !== null && cell !== '')
  const shareOfGeometry = (column: number) => {
    const cells = cellsOf(column)
    return cells.filter((cell) => looksLikeGeometry(cell ?? '')).length / (cells.length || 1)
  }
  const columns = names.map((_, index) => index)
  const named = columns.filter((column) => geometryNames.test(names[column]?.trim() ?? ''))
  // A telling name forgives cells that are no geometry.
  const column =
    named.find((index) => shareOfGeometry(index) > 0.5) ?? columns.find((index) => shareOfGeometry(index) === 1)
  if (column !== undefined) return { kind: 'text', column }
  return findPair(names, (index) => {
    const cells = cellsOf(index)
    return cells.length > 0 && cells.filter((cell) => !Number.isNaN(ordinateOf(cell ?? ''))).length * 2 > cells.length
  })
}

function findPair(names: readonly string[], isNumeric: (column: number) => boolean): GeometryPlace {
  for (const [xName, yName] of pairs) {
    const x = names.findIndex((name) => xName.test(name.trim()))
    const y = names.findIndex((name) => yName.test(name.trim()))
    if (x >= 0 && y >= 0 && isNumeric(x) && isNumeric(y)) {
      return { kind: 'xy', x, y, z: names.findIndex((name) => zName.test(name.trim())) }
    }
  }
  return { kind: 'none' }
}

const hexWkb = /^0[01]([0-9a-f]{2}){8,}$/i

function looksLikeGeometry(cell: string): boolean {
  return looksLikeWkt(cell) || hexWkb.test(cell) || looksLikeJson(cell)
}

function looksLikeJson(cell: string): boolean {
  return cell.startsWith('{') && /"(coordinates|geometries)"\s*:/.test(cell)
}

/** The geometry in a cell, whichever way it is written; undefined when it is none. */
export function parseGeometryCell(cell: string): Parsed | undefined {
  if (cell.startsWith('{')) return parseJson(cell)
  if (/^0[01]/.test(cell)) return hexWkb.test(cell) ? parseWkb(Buffer.from(cell, 'hex')) : undefined
  return parseWkt(cell)
}

function parseJson(cell: string): Parsed | undefined {
  try {
    const value: unknown = JSON.parse(cell)
    const isGeometry = typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
    return isGeometry ? { geometry: value as LooseGeometry } : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const ordinate = /^\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?\s*$/i

/** A coordinate in a cell, with a point or a comma; NaN when it is none. */
function ordinateOf(cell: string): number {
  const quick = Number(cell)
  if (!Number.isNaN(quick)) return cell.trim() === '' ? Number.NaN : quick
  return ordinate.test(cell) ? Number(cell.replace(',', '.')) : Number.NaN
}

/** The point in two or three cells; null when they are empty. */
export function pointOf(
  row: readonly unknown[],
  { x, y, z }: { x: number; y: number; z: number },
): LooseGeometry | 'invalid' | null {
  const [xCell, yCell] = [textOf(row[x]), textOf(row[y])]
  if (xCell === '' && yCell === '') return null
  const coordinates = [ordinateOf(xCell), ordinateOf(yCell)]
  const height = z >= 0 ? ordinateOf(textOf(row[z])) : Number.NaN
  if (!Number.isNaN(height)) coordinates.push(height)
  return coordinates.every(Number.isFinite) ? { type: 'Point', coordinates } : 'invalid'
}

function textOf(cell: unknown): string {
  return cell === null || cell === undefined ? '' : String(cell)
}
