import type { CsvCell } from '../csv/rows.ts'
import type { Warning } from '../reader.ts'
import type { TableRules } from '../table-rules.ts'
import { type BoxColumns, findBox } from './box-columns.ts'
import { chosenGeometry } from './chosen-geometry.ts'
import { type ChosenGeometry, geometryNames, shareOf, type TextColumns } from './columns.ts'
import { type AxisHeading, readAxisHeading } from './coordinate-headings.ts'
import { type Axis, type MeaningOfO, parseAngle } from './degrees.ts'
import { coordinateOf, type GeometryColumns, isNothing, looksLikeGeometry } from './geometry-cell.ts'
import { geometryNotFound } from './geometry-not-found.ts'
import { findOneColumn } from './one-column.ts'
import { findPlanar, zName } from './planar-columns.ts'
import { nullTest } from './typed-cell.ts'

/** Finds the geometry by the client's word, else by the names of the columns and a sample of their cells. */
export function findGeometry(
  names: readonly string[],
  sample: readonly (readonly CsvCell[])[],
  rules: TableRules & { sourceSrid?: number | undefined } = {},
): ChosenGeometry {
  const columns: TextColumns = { names: names.map((name) => name.trim()), cells: cellsOf(names, sample, rules) }
  const meaningOfO = readMeaningOfO(columns)
  if (rules.geometry !== undefined) return chosenGeometry(columns, rules, meaningOfO)
  const box = findBox(columns)
  const geometryColumns = findWritten(columns) ?? findAxes(columns, { meaningOfO, box, hasRows: sample.length > 0 })
  if (geometryColumns) return { geometryColumns, warnings: [] }
  return (
    (box && { geometryColumns: box, warnings: [boxWarning(columns, box)] }) ??
    findPlanar(columns, rules.sourceSrid) ??
    findOneColumn(columns, meaningOfO) ?? { geometryColumns: { kind: 'none' }, warnings: geometryNotFound(columns) }
  )
}

/** The cells of each column, without those that hold nothing. */
export function cellsOf(
  names: readonly string[],
  sample: readonly (readonly CsvCell[])[],
  rules: TableRules,
): string[][] {
  const isNull = nullTest(rules)
  return names.map((_, column) =>
    sample.flatMap((row) => {
      const cell = row[column] ?? ''
      return isNothing(cell) || isNull?.(cell) ? [] : [cell]
    }),
  )
}

function boxWarning({ names }: TextColumns, { west, south, east, north }: BoxColumns): Warning {
  const shown = [west, south, east, north].map((column) => JSON.stringify(names[column])).join(', ')
  const message = `The columns ${shown} were read as the west, south, east and north of rectangles. If that is wrong, give the field geometry: "none", or other columns.`
  return { code: 'box_assumed', message }
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
function findAxes(
  columns: TextColumns,
  { meaningOfO, box, hasRows }: { meaningOfO: MeaningOfO | undefined; box: BoxColumns | undefined; hasRows: boolean },
): GeometryColumns | undefined {
  const { names, cells } = columns
  const isSide = (column: number) => box !== undefined && Object.values(box).includes(column)
  const isEarthly = areOfTheEarth(columns)
  const candidates = names.flatMap((name, column): Candidate[] => {
    const heading = isSide(column) ? undefined : readAxisHeading(name)
    if (!heading) return []
    // Of a heading without rows its names must do.
    const isFound = hasRows ? isAxis(cells[column] ?? [], heading, meaningOfO, isEarthly) : heading.isSure
    return isFound ? [{ ...heading, column }] : []
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
function isAxis(
  cells: readonly string[],
  { axis, isSure }: AxisHeading,
  meaningOfO: MeaningOfO | undefined,
  isEarthly: boolean,
): boolean {
  const isCoordinate = (cell: string) => !Number.isNaN(coordinateOf(cell, axis, meaningOfO))
  const decimals = isEarthly ? /[.,]\d\d|[°º˚]/ : /[.,]\d{3,}|[°º˚]/
  const isTelling = (cell: string) =>
    (decimals.test(cell) || parseAngle(cell, meaningOfO)?.axis === axis) &&
    Math.abs(coordinateOf(cell, axis, meaningOfO)) <= (axis === 'latitude' ? 90 : 360)
  return shareOf(cells, isSure ? isCoordinate : isTelling) > 0.5
}

/** Other measures of things: where there is one, widths and lengths are of things too. */
const measures =
  /^(h(ö|oe)he|tiefe|dicke|st(ä|ae)rke|gewicht|umfang|durchmesser|height|depth|hoogte|diepte|höjd|højde|korkeus|wysokość|высота)\b/i

/** Of the earth one names the width first (Breite, Länge), of things the length; and no height. */
function areOfTheEarth({ names }: TextColumns): boolean {
  const axes = names.map((name) => readAxisHeading(name)?.axis)
  const [latitude, longitude] = [axes.indexOf('latitude'), axes.indexOf('longitude')]
  return latitude >= 0 && latitude < longitude && !names.some((name) => measures.test(name))
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
