import type { Warning } from '../reader.ts'

/** What is known of the elevations of a layer, of which all geometries have one or none has. */
export type Heights = { hasAny: boolean; flat: number; filled: number }

export const createHeights = (): Heights => ({ hasAny: false, flat: 0, filled: 0 })

type Line = number[][]

const hasHeight = ([, , height]: readonly number[]): boolean => height !== undefined

/** Takes the lines of a feature into account. Where some points of a line lack an elevation, they get one. */
export function noteHeights(heights: Heights, lines: readonly Line[]): void {
  const counts = lines.map((line) => line.filter(hasHeight).length)
  if (counts.some((count) => count > 0)) heights.hasAny = true
  if (counts.includes(0)) heights.flat++
  const isPart = (line: Line, index: number): boolean => (counts[index] ?? 0) > 0 && (counts[index] ?? 0) < line.length
  if (lines.some(isPart)) heights.filled++
  for (const [index, line] of lines.entries()) if (isPart(line, index)) fill(line)
}

/** Between two known elevations along the line, before the first and behind the last like these. */
function fill(line: Line): void {
  let before = -1
  for (let at = 0; at <= line.length; at++) {
    const isKnown = at < line.length && hasHeight(line[at] ?? [])
    if (!isKnown && at < line.length) continue
    for (let between = before + 1; between < at; between++) {
      const from = line[before]?.[2] ?? line[at]?.[2] ?? 0
      const to = line[at]?.[2] ?? from
      line[between]?.push(from + ((to - from) * (between - before)) / (at - before))
    }
    before = at
  }
}

/** Zero would be sea level: when one feature has no elevation, the layer has none. */
export function heightFacts({ hasAny, flat, filled }: Heights): { isFlat: boolean; warnings: Warning[] } {
  const isFlat = flat > 0
  const warnings: Warning[] = []
  if (hasAny && isFlat)
    warnings.push({
      code: 'elevation_left_out',
      message: 'Some features or segments have no elevation, so all geometries were loaded as 2D.',
      count: flat,
    })
  else if (filled > 0)
    warnings.push({
      code: 'elevation_filled',
      message: 'Points without elevation got one from their neighbours on the line.',
      count: filled,
    })
  return { isFlat, warnings }
}
