import { ReadFault, type Warning } from '../reader.ts'

/**
 * Rows that cannot be what they should be: a latitude of 600, text that is no geometry, a cell too many. A few are skipped and
 * named in a warning; more than a few, or any with `strict`, fail the upload and are named in its error.
 */

/** What is wrong with a row, and where it is: lines of text and rows of sheets count from 1, features too. */
export type RowFault = { line?: number; feature?: number; column?: string; value?: string; problem: string }

export type SkippedRows = { count: number; first: RowFault[] }

export type RowRules = {
  /** No row is skipped. */
  strict?: boolean | undefined
  /** What the client says of the coordinates: only degrees have a range. */
  sourceSrid?: number | undefined
  /** The share of rows that may be skipped. */
  mostSkipped?: number
}

const namedRows = 5
const longestValue = 40
const usualShare = 0.01

export function createSkippedRows(): SkippedRows {
  return { count: 0, first: [] }
}

export function skipRow(skipped: SkippedRows, fault: RowFault): void {
  skipped.count++
  if (skipped.first.length < namedRows) skipped.first.push(fault)
}

function describe({ line, feature, column, value, problem }: RowFault): string {
  const place = [
    line === undefined ? '' : `line ${line}`,
    feature === undefined ? '' : `feature ${feature}`,
    column === undefined ? '' : `column ${JSON.stringify(column)}`,
  ]
  const shown = value === undefined ? '' : `${JSON.stringify(shorten(value))} `
  return `${place.filter(Boolean).join(', ')}: ${shown}${problem}`
}

function shorten(text: string): string {
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text
}

/** The first few by name, the others by their number. */
export function nameRows({ count, first }: SkippedRows): string {
  const more = count > first.length ? `; and ${count - first.length} more` : ''
  return first.map(describe).join('; ') + more
}

export function skippedWarnings(skipped: SkippedRows): Warning[] {
  const { count } = skipped
  if (count === 0) return []
  const rows = count === 1 ? 'One row was skipped' : `${count} rows were skipped`
  return [{ code: 'skipped_rows', message: `${rows}: ${nameRows(skipped)}.`, count }]
}

/** Throws a fault when more rows were skipped than may be: one always may, unless it is the only one. */
export function demandFewSkipped(skipped: SkippedRows, kept: number, rules: RowRules, layer?: string): void {
  const { count, first } = skipped
  if (count === 0) return
  const total = count + kept
  const share = rules.mostSkipped ?? usualShare
  const most = rules.strict || kept === 0 ? 0 : Math.max(1, Math.floor(total * share))
  if (count <= most) return
  const line = first[0]?.line
  const feature = first[0]?.feature
  const why = rules.strict ? 'and strict allows none to be skipped' : `more than ${share * 100} %`
  const correct = first.some(({ problem }) => problem.includes('outside'))
    ? 'Correct them (or give sourceSrid, if the coordinates are not degrees)'
    : 'Correct them'
  const advice = rules.strict ? `${correct}, or leave strict out to skip a few.` : `${correct} and send the file again.`
  throw new ReadFault(
    'invalid_rows',
    `${count} of ${total} rows cannot be loaded, ${why}: ${nameRows(skipped)}. ${advice}`,
    {
      ...(line !== undefined && { line }),
      ...(feature !== undefined && { feature }),
      ...(layer !== undefined && { layer }),
    },
  )
}

/** A map around the antimeridian may go on beyond 180: what does is moved into -180 … 180 later. */
const mostLongitude = 360
const mostLatitude = 90

/** Which of the coordinates in a box of west, south, east and north cannot be degrees; undefined when all can be. */
export function outsideDegrees(
  box: ArrayLike<number>,
): { axis: 'x' | 'y'; value: number; problem: string } | undefined {
  const [west = 0, south = 0, east = 0, north = 0] = [box[0], box[1], box[2], box[3]]
  if (south < -mostLatitude || north > mostLatitude) {
    const value = north > mostLatitude ? north : south
    return { axis: 'y', value, problem: `is not a latitude: it is outside -${mostLatitude} … ${mostLatitude}` }
  }
  if (west >= -mostLongitude && east <= mostLongitude) return undefined
  const value = east > mostLongitude ? east : west
  return { axis: 'x', value, problem: `is not a longitude: it is outside -${mostLongitude} … ${mostLongitude}` }
}

/** The same without the details, for every row. The box of an empty geometry is inside: it is infinite the other way round. */
export function isInDegrees(box: Float64Array): boolean {
  return (
    (box[1] as number) >= -mostLatitude &&
    (box[3] as number) <= mostLatitude &&
    (box[0] as number) >= -mostLongitude &&
    (box[2] as number) <= mostLongitude
  )
}
