import { shareOf, type TextColumns } from './columns.ts'
import { foldHeading } from './coordinate-headings.ts'
import { type GeometryColumns, ordinateOf } from './geometry-cell.ts'

/** Rectangles in four columns: `north, south, east, west`, `xmin, ymin, xmax, ymax`, `min_lat, …`. */

export const sides = ['west', 'south', 'east', 'north'] as const
export type Side = (typeof sides)[number]

const sideWords: Readonly<Record<string, Side>> = Object.fromEntries(
  (
    [
      ['west', 'west westlich ouest oeste ovest left links westbound westlon westlng'],
      ['south', 'south süd sued sud sur sul bottom unten southbound southlat'],
      ['east', 'east ost est este leste right rechts eastbound eastlon eastlng'],
      ['north', 'north nord norte top oben northbound northlat'],
    ] as const
  ).flatMap(([side, words]) => words.split(' ').map((word) => [foldHeading(word), side])),
)

const ends: Readonly<Record<string, 0 | 1>> = {
  min: 0,
  minimum: 0,
  lower: 0,
  ll: 0,
  sw: 0,
  max: 1,
  maximum: 1,
  upper: 1,
  ur: 1,
  ne: 1,
}
const xAxes = 'x|lon|lng|long|longitude|e'
const yAxes = 'y|lat|latitude|n'
const glued = new RegExp(`^(?:(?<end>min|max)(?<axis>${xAxes}|${yAxes})|(?<axis2>${xAxes}|${yAxes})(?<end2>min|max))$`)
/** Words that say no more than that it is a side of a box, or in degrees. */
const fillers = new Set(
  'bbox box bound bounds boundary bounding extent limit edge side lat latitude lon lng long longitude coordinate coord deg degrees wgs84'.split(
    ' ',
  ),
)

type SideHeading = { side: Side; prefix: string }

const sideOf = (axis: string, end: 0 | 1): Side =>
  new RegExp(`^(?:${xAxes})$`).test(axis) ? (end === 0 ? 'west' : 'east') : end === 0 ? 'south' : 'north'

/** The side that a heading names. */
export function readSide(name: string): SideHeading | undefined {
  const parts = foldHeading(name).split(' ')
  const [end, axis] = [parts.find((part) => part in ends), parts.find((part) => axisPattern.test(part))]
  const isApart = end !== undefined && axis !== undefined
  const apart = isApart ? [sideOf(axis, ends[end] ?? 0)] : []
  const found = [...apart, ...parts.flatMap((part) => sideInPart(part) ?? [])]
  const isOther = (part: string) =>
    !fillers.has(part) && !(isApart && (part === end || part === axis)) && sideInPart(part) === undefined
  const [side] = found
  return side && found.length === 1 ? { side, prefix: parts.filter(isOther).join(' ') } : undefined
}

const axisPattern = new RegExp(`^(?:${xAxes}|${yAxes})$`)

/** `west`, or `xmin` and `minlat` in one word. */
function sideInPart(part: string): Side | undefined {
  const { axis, axis2, end, end2 } = glued.exec(part)?.groups ?? {}
  if (axis === undefined && axis2 === undefined) return Object.hasOwn(sideWords, part) ? sideWords[part] : undefined
  return sideOf(axis ?? axis2 ?? '', (end ?? end2) === 'min' ? 0 : 1)
}

export type BoxColumns = Extract<GeometryColumns, { kind: 'box' }>

/** The columns of a box: all four sides, of numbers, called alike besides. */
export function findBox({ names, cells }: TextColumns): BoxColumns | undefined {
  const headings = names.map(readSide)
  const isNumeric = (column: number) => shareOf(cells[column] ?? [], (cell) => !Number.isNaN(ordinateOf(cell))) > 0.5
  for (const prefix of new Set(headings.flatMap((heading) => (heading ? [heading.prefix] : [])))) {
    const columns = sides.map((side) =>
      headings.findIndex((heading, column) => heading?.side === side && heading.prefix === prefix && isNumeric(column)),
    )
    const [west = -1, south = -1, east = -1, north = -1] = columns
    const box: BoxColumns = { kind: 'box', west, south, east, north }
    if (columns.every((column) => column >= 0) && isUpright(box, cells)) return box
  }
  return undefined
}

/** South is below north on the whole: columns that are called so for another reason are in no order. */
function isUpright({ south, north }: BoxColumns, cells: TextColumns['cells']): boolean {
  return medianOf(cells[south] ?? []) <= medianOf(cells[north] ?? [])
}

function medianOf(cells: readonly string[]): number {
  const values = cells.map(ordinateOf).filter(Number.isFinite)
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
