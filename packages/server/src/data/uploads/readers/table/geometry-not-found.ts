import type { Warning } from '../reader.ts'
import { geometryNames, shareOf, type TextColumns } from './columns.ts'
import { readAxisHeading } from './coordinate-headings.ts'
import { parsePair } from './coordinate-pair.ts'
import { looksLikeGeometry, ordinateOf } from './geometry-cell.ts'
import { pairsIn } from './planar-columns.ts'

/** Tells of a table without geometry which column looks like one, and what would make it one. */
export function geometryNotFound(columns: TextColumns): Warning[] {
  const message = halfPair(columns) ?? unreadable(columns) ?? unnamed(columns)
  return message === undefined ? [] : [{ code: 'geometry_not_found', message: `No geometry was found. ${message}` }]
}

const shown = (text: string): string => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)

/** One of two coordinates, or both with cells that are none. */
function halfPair({ names, cells }: TextColumns): string | undefined {
  const axes = names.map((name) => readAxisHeading(name))
  const column = (axis: string) => axes.findIndex((heading) => heading?.axis === axis && heading.isSure)
  const [latitude, longitude] = [column('latitude'), column('longitude')]
  if (latitude < 0 && longitude < 0) return undefined
  if (latitude >= 0 && longitude >= 0) {
    const example = cells[latitude]?.[0] ?? cells[longitude]?.[0]
    const value = example === undefined ? 'are empty' : `hold values such as ${shown(example)}`
    return `The columns ${shown(names[latitude] ?? '')} and ${shown(names[longitude] ?? '')} look like coordinates but ${value}; write them as 60.17 or 60°10'12"N.`
  }
  const [found, missing] = latitude >= 0 ? [latitude, 'longitude'] : [longitude, 'latitude']
  return `The column ${shown(names[found] ?? '')} looks like a coordinate, but no column is called ${missing}; rename the one that holds it, or give the field geometry.`
}

function unreadable({ names, cells }: TextColumns): string | undefined {
  const named = names.findIndex((name, column) => geometryNames.test(name) && (cells[column]?.length ?? 0) > 0)
  if (named >= 0) {
    return `The column ${shown(names[named] ?? '')} is called like a geometry but holds values such as ${shown(cells[named]?.[0] ?? '')}; write WKT, GeoJSON or hexadecimal WKB.`
  }
  const some = cells.findIndex((column) => shareOf(column, looksLikeGeometry) > 0.5)
  return some < 0
    ? undefined
    : `Most values of the column ${shown(names[some] ?? '')} look like geometries, but not all; call the column "geometry".`
}

const decimalDegrees = /^\s*-?\d{1,3}[.,]\d{4,}\s*$/
/** Names that say nothing, or may be those of coordinates: a distance and a speed are none. */
const tellsNothing = /^(column[_ ]?\d+|field[_ ]?\d+|unnamed.*|\p{L}{1,2}\d?|v\d+)$/iu

/** Coordinates without a heading that tells. */
function unnamed(columns: TextColumns): string | undefined {
  const { names, cells } = columns
  const pair = cells.findIndex((column) => shareOf(column, (cell) => parsePair(cell) !== undefined) > 0.5)
  if (pair >= 0) {
    return `The column ${shown(names[pair] ?? '')} looks like pairs of coordinates (${shown(cells[pair]?.[0] ?? '')}). If it is one, give the field geometry: ${shown(`${names[pair]}:lat,lon`)} or ${shown(`${names[pair]}:lon,lat`)}.`
  }
  const axes = names.map((name) => readAxisHeading(name)?.axis)
  const [latitude, longitude] = [axes.indexOf('latitude'), axes.indexOf('longitude')]
  if (latitude >= 0 && longitude >= 0) return maybe(names[longitude] ?? '', names[latitude] ?? '')
  const [planar] = pairsIn(columns)
  if (planar) return maybe(names[planar.x.column] ?? '', names[planar.y.column] ?? '')
  const isDegrees = (column: readonly string[]) =>
    column.length > 0 && shareOf(column, (cell) => decimalDegrees.test(cell)) > 0.9
  const both = names.filter((name, column) => isDegrees(cells[column] ?? []) && tellsNothing.test(name))
  const [first, second] = both
  if (first === undefined || second === undefined || both.length !== 2) return undefined
  const isSmall = [first, second].every((name) =>
    (cells[names.indexOf(name)] ?? []).every((cell) => Math.abs(ordinateOf(cell)) <= nearOrigin),
  )
  return isSmall ? undefined : maybe(first, second)
}

/** Degrees so small are those of a plot rather than of a map. */
const nearOrigin = 10

const maybe = (x: string, y: string): string =>
  `The columns ${shown(x)} and ${shown(y)} may be coordinates. If they are, give the field geometry with the column of the longitude or easting first, such as ${shown(`${x},${y}`)}, and sourceSrid if they are no degrees.`
