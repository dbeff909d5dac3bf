/** The geometry that the client names in the upload field `geometry`. */

import type { TableRules } from '../table-rules.ts'
import { readSide, type Side, sides } from './box-columns.ts'
import { type ChosenGeometry, shareOf, type TextColumns } from './columns.ts'
import { orderInHeading, type PairOrder, readAxisHeading } from './coordinate-headings.ts'
import { parsePair } from './coordinate-pair.ts'
import type { MeaningOfO } from './degrees.ts'
import { coordinateOf, type GeometryColumns, looksLikeGeometry, ordinateOf } from './geometry-cell.ts'
import { likelySystems, systemsFor } from './match-systems.ts'
import { pairColumn } from './one-column.ts'
import { areDegrees, hintOf, zName } from './planar-columns.ts'
import { readPlanarHeading } from './planar-headings.ts'
import { fieldFault, unknownColumn } from './table-faults.ts'

const syntax = 'Write none, a column, two columns (x,y) or the four sides of a box (west,south,east,north).'

/** `none`, `column`, `column:lat,lon`, `x,y`, `x,y,z` or `west,south,east,north`. */
export function chosenGeometry(
  columns: TextColumns,
  { geometry = '', sourceSrid }: TableRules & { sourceSrid?: number | undefined },
  meaningOfO: MeaningOfO | undefined,
): ChosenGeometry {
  if (geometry === 'none') return { geometryColumns: { kind: 'none' }, warnings: [] }
  const column = columnCalled(geometry, columns)
  if (column >= 0) return oneColumn(columns, column, undefined, meaningOfO)
  const [, name = '', order = ''] = /^(.*):\s*([^:]*)$/s.exec(geometry) ?? []
  const ordered = name === '' ? -1 : columnCalled(name, columns)
  if (ordered >= 0) return oneColumn(columns, ordered, orderCalled(order), meaningOfO)
  const wanted = namesIn(geometry)
  const found = wanted.map((one) => columnCalled(one, columns))
  const missing = found.indexOf(-1)
  if (missing >= 0) throw unknownColumn('geometry', wanted[missing] ?? '', columns.names)
  if (new Set(found).size < found.length) throw fieldFault('geometry', `A column is named twice. ${syntax}`)
  if (found.length === 4) return { geometryColumns: boxOf(columns, found), warnings: [] }
  if (found.length === 2 || found.length === 3) return pairOf(columns, found, sourceSrid, meaningOfO)
  throw fieldFault('geometry', `${found.length} columns are named. ${syntax}`)
}

/** Names with commas are written as a list of JSON. */
function namesIn(text: string): string[] {
  try {
    const list: unknown = text.startsWith('[') ? JSON.parse(text) : undefined
    if (Array.isArray(list) && list.every((one) => typeof one === 'string')) return list
  } catch {
    // Then it is a name that begins with a bracket.
  }
  return text.split(',').map((part) => part.trim())
}

function columnCalled(name: string, { names }: TextColumns): number {
  const exact = names.indexOf(name.trim())
  if (exact >= 0) return exact
  const alike = names.filter((one) => one.toLowerCase() === name.trim().toLowerCase())
  return alike.length === 1 ? names.indexOf(alike[0] ?? '') : -1
}

function orderCalled(text: string): PairOrder {
  const order = orderInHeading(text)
  if (order) return order
  throw fieldFault('geometry', `${JSON.stringify(text)} is not an order of coordinates. Write lat,lon or lon,lat.`)
}

const example = (cells: readonly string[]): string => JSON.stringify((cells[0] ?? '').slice(0, 40))

function oneColumn(
  columns: TextColumns,
  column: number,
  order: PairOrder | undefined,
  meaningOfO: MeaningOfO | undefined,
): ChosenGeometry {
  const cells = columns.cells[column] ?? []
  const isPair = shareOf(cells, (cell) => parsePair(cell, meaningOfO, true) !== undefined) > 0.5
  if (isPair && order) {
    return { geometryColumns: { kind: 'pair', column, order, ...(meaningOfO && { meaningOfO }) }, warnings: [] }
  }
  if (isPair) {
    const found = pairColumn(columns, column, meaningOfO)
    const [said] = found.warnings
    if (found.geometryColumns.kind === 'none' && said) throw fieldFault('geometry', said.message)
    return found
  }
  if (order) throw misfit(columns, column, 'pairs of coordinates')
  if (cells.length > 0 && shareOf(cells, looksLikeGeometry) <= 0.5) {
    throw misfit(columns, column, 'geometries (WKT, GeoJSON, hexadecimal WKB or pairs of coordinates)')
  }
  return { geometryColumns: { kind: 'text', column }, warnings: [] }
}

const misfit = ({ names, cells }: TextColumns, column: number, wanted: string) =>
  fieldFault(
    'geometry',
    `The column ${JSON.stringify(names[column])} holds values such as ${example(cells[column] ?? [])}, which are no ${wanted}.`,
  )

function demandNumbers(columns: TextColumns, column: number, isCoordinate: (cell: string) => boolean): void {
  const cells = columns.cells[column] ?? []
  if (cells.length > 0 && shareOf(cells, isCoordinate) <= 0.5) throw misfit(columns, column, 'coordinates')
}

/** The first is x, unless the names say that it is not. */
function pairOf(
  columns: TextColumns,
  [first = 0, second = 0, third]: readonly number[],
  sourceSrid: number | undefined,
  meaningOfO: MeaningOfO | undefined,
): ChosenGeometry {
  const { names, cells } = columns
  const [x, y] = isNorthFirst(names[first] ?? '', names[second] ?? '') ? [second, first] : [first, second]
  demandNumbers(columns, x, (cell) => !Number.isNaN(coordinateOf(cell, 'longitude', meaningOfO)))
  demandNumbers(columns, y, (cell) => !Number.isNaN(coordinateOf(cell, 'latitude', meaningOfO)))
  const valuesOf = (column: number) => (cells[column] ?? []).map(ordinateOf).filter(Number.isFinite)
  const [xs, ys] = [valuesOf(x), valuesOf(y)]
  const isGeographic = sourceSrid === undefined && areDegrees(xs, ys)
  const z = third ?? names.findIndex((name) => zName.test(name))
  const geometryColumns: GeometryColumns = { kind: 'xy', x, y, z, isGeographic, ...(meaningOfO && { meaningOfO }) }
  if (isGeographic || sourceSrid !== undefined) return { geometryColumns, warnings: [] }
  return { geometryColumns, ...systemOf([names[x] ?? '', names[y] ?? ''], xs, ys) }
}

function isNorthFirst(one: string, other: string): boolean {
  const isLatitudeFirst = readAxisHeading(one)?.axis === 'latitude' && readAxisHeading(other)?.axis === 'longitude'
  return isLatitudeFirst || (readPlanarHeading(one)?.axis === 'y' && readPlanarHeading(other)?.axis === 'x')
}

/** The client named the columns and not their system: names and values may tell it. */
function systemOf(
  names: readonly string[],
  xs: readonly number[],
  ys: readonly number[],
): Omit<ChosenGeometry, 'geometryColumns'> {
  const headings = names.flatMap((name) => readPlanarHeading(name) ?? [])
  const words = headings.flatMap((heading) => heading.words)
  const fits = systemsFor({ words, manners: headings.flatMap(({ manners }) => manners) }, xs, ys)
  const [fit] = fits
  if (!fit || fits.length > 1 || fit.isSwapped) return { warnings: [], ...hintOf(likelySystems(xs, ys)) }
  const { title, srid } = fit.system
  const message = `The coordinates were read in ${title} (EPSG:${srid}), as names and values show. If that is wrong, give the field sourceSrid.`
  return { srid, warnings: [{ code: 'srid_assumed', message }] }
}

/** West, south, east and north, unless the names tell another order. */
function boxOf(columns: TextColumns, found: readonly number[]): GeometryColumns {
  for (const column of found) demandNumbers(columns, column, (cell) => !Number.isNaN(ordinateOf(cell)))
  const named = new Map<Side, number>()
  for (const column of found) {
    const side = readSide(columns.names[column] ?? '')?.side
    if (side) named.set(side, column)
  }
  const [west = 0, south = 0, east = 0, north = 0] = named.size === 4 ? sides.map((side) => named.get(side)) : found
  return { kind: 'box', west, south, east, north }
}
