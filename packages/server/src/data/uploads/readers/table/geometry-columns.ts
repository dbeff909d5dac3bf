import type { CsvCell } from '../csv/rows.ts'
import type { Warning } from '../reader.ts'
import { geometryNames, shareOf, type TextColumns } from './columns.ts'
import {
  type AxisHeading,
  isPairHeading,
  orderInHeading,
  type PairOrder,
  readAxisHeading,
} from './coordinate-headings.ts'
import { isTellingPair, orderInCells, parsePair } from './coordinate-pair.ts'
import { type Axis, type MeaningOfO, parseAngle } from './degrees.ts'
import { coordinateOf, type GeometryColumns, isNothing, looksLikeGeometry, ordinateOf } from './geometry-cell.ts'
import { geometryNotFound } from './geometry-not-found.ts'

export type FoundGeometry = { geometryColumns: GeometryColumns; warnings: Warning[] }

/** Names of x and y that belong together, the surest first; a z may come with them. */
const plainPairs: readonly (readonly [RegExp, RegExp])[] = [
  [
    /^(x|x[ _-]?coord(inate)?|coord(inate)?[ _-]?x|point_?x)$/i,
    /^(y|y[ _-]?coord(inate)?|coord(inate)?[ _-]?y|point_?y)$/i,
  ],
  [/^(easting|east|rechtswert|ostwert)s?$/i, /^(northing|north|hochwert|nordwert)s?$/i],
]
const zName = /^(z|z_?coord(inate)?|coord(inate)?_?z|point_?z)$/i

/** Finds the geometry by the names of the columns and a sample of their cells. */
export function findGeometry(names: readonly string[], sample: readonly (readonly CsvCell[])[]): FoundGeometry {
  const cells = names.map((_, column) =>
    sample.flatMap((row) => {
      const cell = row[column] ?? ''
      return isNothing(cell) ? [] : [cell]
    }),
  )
  const columns: TextColumns = { names: names.map((name) => name.trim()), cells }
  const geometryColumns = findWritten(columns) ?? findAxes(columns) ?? findPlainPair(columns)
  if (geometryColumns) return { geometryColumns, warnings: [] }
  return findOneColumn(columns) ?? { geometryColumns: { kind: 'none' }, warnings: geometryNotFound(columns) }
}

function findWritten({ names, cells }: TextColumns): GeometryColumns | undefined {
  const shares = cells.map((column) => shareOf(column, looksLikeGeometry))
  // A telling name forgives cells that are no geometry.
  const named = shares.findIndex((share, column) => share > 0.5 && geometryNames.test(names[column] ?? ''))
  const column = named >= 0 ? named : shares.indexOf(1)
  return column >= 0 ? { kind: 'text', column } : undefined
}

type Candidate = AxisHeading & { column: number }

/** Columns called latitude and longitude: first those called nothing else, then those with the same prefix, then any. */
function findAxes(columns: TextColumns): GeometryColumns | undefined {
  const { names, cells } = columns
  const meaningOfO = readMeaningOfO(columns)
  const candidates = names.flatMap((name, column): Candidate[] => {
    const heading = readAxisHeading(name)
    return heading && isAxis(cells[column] ?? [], heading, meaningOfO) ? [{ ...heading, column }] : []
  })
  const of = (axis: Axis) => candidates.filter((candidate) => candidate.axis === axis)
  const pairs = of('longitude')
    .flatMap((x) => of('latitude').map((y) => ({ x, y })))
    .sort((left, right) => rankOf(left) - rankOf(right))
  const [best] = pairs
  if (!best) return undefined
  const z = names.findIndex((name) => zName.test(name))
  return { kind: 'xy', x: best.x.column, y: best.y.column, z, isGeographic: true, ...(meaningOfO && { meaningOfO }) }
}

function rankOf({ x, y }: { x: Candidate; y: Candidate }): number {
  if (x.prefix === '' && y.prefix === '') return 0
  return x.prefix === y.prefix ? 1 : 2
}

/** Most cells are coordinates; a heading that may mean any width or length needs degrees with decimals or signs. */
function isAxis(cells: readonly string[], { axis, isSure }: AxisHeading, meaningOfO: MeaningOfO | undefined): boolean {
  const isCoordinate = (cell: string) => !Number.isNaN(coordinateOf(cell, axis, meaningOfO))
  const isTelling = (cell: string) =>
    (/[.,]\d{3,}|[°º˚]/.test(cell) || parseAngle(cell, meaningOfO)?.axis === axis) &&
    Math.abs(coordinateOf(cell, axis, meaningOfO)) <= (axis === 'latitude' ? 90 : 360)
  return shareOf(cells, isSure ? isCoordinate : isTelling) > 0.5
}

function findPlainPair({ names, cells }: TextColumns): GeometryColumns | undefined {
  const isNumeric = (column: number) => shareOf(cells[column] ?? [], (cell) => !Number.isNaN(ordinateOf(cell))) > 0.5
  for (const [xName, yName] of plainPairs) {
    const x = names.findIndex((name) => xName.test(name))
    const y = names.findIndex((name) => yName.test(name))
    if (x >= 0 && y >= 0 && isNumeric(x) && isNumeric(y)) {
      return { kind: 'xy', x, y, z: names.findIndex((name) => zName.test(name)), isGeographic: false }
    }
  }
  return undefined
}

/** Both coordinates in one column: most cells of one that is called so, or all of any, beyond doubt. */
function findOneColumn(columns: TextColumns): FoundGeometry | undefined {
  const { names, cells } = columns
  const meaningOfO = readMeaningOfO(columns)
  const share = (column: number) => shareOf(cells[column] ?? [], (cell) => parsePair(cell, meaningOfO) !== undefined)
  const isTelling = (column: number) => shareOf(cells[column] ?? [], (cell) => isTellingPair(cell, meaningOfO)) === 1
  const named = names.findIndex((name, column) => isPairHeading(name) && share(column) > 0.5)
  const column = named >= 0 ? named : names.findIndex((_, index) => isTelling(index))
  if (column < 0) return undefined
  const name = names[column] ?? ''
  const inCells = orderInCells(cells[column] ?? [], meaningOfO)
  const order = inCells ?? orderInHeading(name) ?? 'latitude first'
  const geometryColumns: GeometryColumns = { kind: 'pair', column, order, ...(meaningOfO && { meaningOfO }) }
  return {
    geometryColumns,
    warnings: [orderWarning(name, order, inCells ? 'its values' : orderInHeading(name) && 'its heading')],
  }
}

function orderWarning(name: string, order: PairOrder, source: string | undefined): Warning {
  const words = order === 'latitude first' ? 'latitude, longitude' : 'longitude, latitude'
  const reason = source ? `as ${source} show${source === 'its heading' ? 's' : ''}` : 'the usual order'
  const message = `The coordinates in column "${name}" were read as ${words}, ${reason}. If that is wrong, call the column "${
    order === 'latitude first' ? 'lon, lat' : 'lat, lon'
  }" and send the file again.`
  return { code: 'coordinate_order', message }
}

/** An O beside a W is Ost, beside an E it is ouest or oeste; where neither is seen, the language of the headings tells. */
function readMeaningOfO({ names, cells }: TextColumns): MeaningOfO | undefined {
  const isSeen = (letter: string) => {
    const pattern = new RegExp(`\\d[°'"′″’” ]*${letter}\\b|^${letter} ?\\d`, 'i')
    return cells.some((column) => column.some((cell) => pattern.test(cell)))
  }
  if (!isSeen('O')) return undefined
  if (isSeen('W')) return 'east'
  if (isSeen('E') || names.some((name) => /^(latitud|longitud)/i.test(name))) return 'west'
  return names.some((name) => /breite|l(ä|ae)nge|koordinate/i.test(name)) ? 'east' : undefined
}
