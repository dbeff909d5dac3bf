/** Which reference systems headings and values tell. */
import { type CoordinateSystem, coordinateSystems, type HeadingManner, type Range } from './coordinate-systems.ts'

/** A slip of the pen does not hide a system. */
const most = 0.95

const isWithin = (values: readonly number[], [least, greatest]: Range): boolean =>
  values.filter((value) => value >= least && value <= greatest).length >= values.length * most

const isNamed = ({ words, srid }: CoordinateSystem, given: readonly string[]): boolean =>
  given.some((word) => words.includes(word) || word === String(srid) || word === `epsg${srid}`)

export type SystemFit = { system: CoordinateSystem; isSwapped: boolean }

/** The systems that headings may mean and whose range holds all values; `isSwapped` where x holds the northing. */
export function systemsFor(
  headings: { words: readonly string[]; manners: readonly HeadingManner[] },
  x: readonly number[],
  y: readonly number[],
): SystemFit[] {
  const named = coordinateSystems.filter((one) => isNamed(one, headings.words))
  const candidates =
    named.length > 0
      ? named
      : coordinateSystems.filter((one) => one.headings.some((manner) => headings.manners.includes(manner)))
  return fitsAmong(candidates, x, y)
}

/** The systems whose range holds all values, whatever the headings: what may be given as `sourceSrid`. */
export const likelySystems = (x: readonly number[], y: readonly number[]): CoordinateSystem[] =>
  fitsAmong(
    coordinateSystems.filter(({ srid }) => srid !== 3857),
    x,
    y,
  ).map(({ system: one }) => one)

/** Whether values are in the range of a system only if x and y change places: X is the northing in some countries. */
export function isSwappedIn(srid: number, x: readonly number[], y: readonly number[]): boolean {
  const known = coordinateSystems.find((one) => one.srid === srid)
  return known !== undefined && fitsAmong([known], x, y)[0]?.isSwapped === true
}

function fitsAmong(candidates: readonly CoordinateSystem[], x: readonly number[], y: readonly number[]): SystemFit[] {
  if (x.length === 0 || y.length === 0) return []
  return candidates.flatMap((one): SystemFit[] => {
    if (isWithin(x, one.east) && isWithin(y, one.north)) return [{ system: one, isSwapped: false }]
    return isWithin(x, one.north) && isWithin(y, one.east) ? [{ system: one, isSwapped: true }] : []
  })
}
