/** What GPX says of the points of a track or route: times, pulses, names. Lists of a line's values become fields, like those of KML's tracks. */
import type { Warning } from '../reader.ts'

/** Values of one name in the order of points; where a point has none there is a gap. */
type Line = Map<string, (string | undefined)[]>

export type PointValues = { lines: Line[]; names: Set<string>; leftOut: number }

/** Of the points of a feature; each costs a value, or null, for every point. */
const mostNames = 32

export const createPointValues = (): PointValues => ({ lines: [], names: new Set(), leftOut: 0 })

/** The point is counted from 0 in the last line. */
export function addPointValue(values: PointValues, point: number, name: string, text: string): void {
  const line = values.lines.at(-1)
  if (!line || text === '') return
  if (!values.names.has(name)) {
    if (values.names.size === mostNames) {
      values.leftOut++
      return
    }
    values.names.add(name)
  }
  const list = line.get(name) ?? []
  // The first of a name, as GDAL has it.
  list[point] ??= text
  line.set(name, list)
}

const plainNumber = /^-?(0|[1-9]\d{0,14})(\.\d{1,15})?$/
const jsonValue = (text: string | undefined): string | number | null =>
  text === undefined ? null : plainNumber.test(text) ? Number(text) : text

/** Fields with lists, one value for each point; of several lines lists of lists. */
export function pointFields({ lines, names }: PointValues, lengths: readonly number[]): [string, unknown][] {
  return [...names].map((name) => {
    const lists = lengths.map((length, line) => {
      const list = lines[line]?.get(name)
      return Array.from({ length }, (_, point) => jsonValue(list?.[point]))
    })
    return [name === 'time' ? 'times' : `point_${name}`, lists.length === 1 ? lists[0] : lists]
  })
}

export const leftOutWarnings = (count: number): Warning[] =>
  count === 0
    ? []
    : [
        {
          code: 'point_values_left_out',
          message: `Of the points of a track or route the values of ${mostNames} names are kept; others were left out.`,
          count,
        },
      ]
