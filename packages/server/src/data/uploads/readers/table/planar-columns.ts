/** Eastings and northings, or plain x and y, in two columns: their names and the range of their values tell whether they are any. */
import type { Warning } from '../reader.ts'
import { type ChosenGeometry, shareOf, type TextColumns } from './columns.ts'
import type { CoordinateSystem } from './coordinate-systems.ts'
import { type GeometryColumns, ordinateOf } from './geometry-cell.ts'
import { isSwappedIn, likelySystems, type SystemFit, systemsFor } from './match-systems.ts'
import { isPlainPrefix, type PlanarHeading, readPlanarHeading } from './planar-headings.ts'

export const zName = /^(z|z_?coord(inate)?|coord(inate)?_?z|point_?z)$/i

type Axis = PlanarHeading & { readonly column: number }
type Pair = { readonly x: Axis; readonly y: Axis }

/** The surest pair: nothing where two columns are called x and y but look like no coordinates. */
export function findPlanar(columns: TextColumns, sourceSrid: number | undefined): ChosenGeometry | undefined {
  const [best] = pairsIn(columns)
  return best && resolve(columns, best, sourceSrid)
}

/** Columns that are called like coordinates, whatever is in them. */
export function pairsIn({ names, cells }: TextColumns): Pair[] {
  const axes = names.flatMap((name, column): Axis[] => {
    const heading = readPlanarHeading(name)
    const isNumeric = shareOf(cells[column] ?? [], (cell) => !Number.isNaN(ordinateOf(cell))) > 0.5
    return heading && isNumeric ? [{ ...heading, column }] : []
  })
  const of = (axis: 'x' | 'y') => axes.filter((one) => one.axis === axis)
  const isOne = (x: Axis, y: Axis) => x.prefix === y.prefix && x.isSure === y.isSure && isAlike(x.words, y.words)
  return of('x')
    .flatMap((x) => of('y').flatMap((y) => (isOne(x, y) ? [{ x, y }] : [])))
    .sort((left, right) => rankOf(left) - rankOf(right))
}

const isAlike = (one: readonly string[], other: readonly string[]): boolean => one.join() === other.join()

const rankOf = ({ x }: Pair): number => (x.isSure ? 0 : 2) + (x.prefix === '' ? 0 : 1)

const valuesOf = ({ cells }: TextColumns, column: number): number[] =>
  (cells[column] ?? []).map(ordinateOf).filter((value) => Number.isFinite(value))

/** What a pair of columns holds. */
type Values = { readonly names: string; readonly xs: readonly number[]; readonly ys: readonly number[] }

function resolve(columns: TextColumns, pair: Pair, sourceSrid: number | undefined): ChosenGeometry | undefined {
  const { x, y } = pair
  const [xs, ys] = [valuesOf(columns, x.column), valuesOf(columns, y.column)]
  const values = { names: `"${columns.names[x.column]}" and "${columns.names[y.column]}"`, xs, ys }
  const found = (isSwapped: boolean, more: Omit<ChosenGeometry, 'geometryColumns'>): ChosenGeometry => ({
    geometryColumns: xyOf(columns, isSwapped ? y.column : x.column, isSwapped ? x.column : y.column),
    ...more,
  })
  if (sourceSrid !== undefined) {
    const isSwapped = isSwappedIn(sourceSrid, xs, ys)
    return found(isSwapped, { warnings: isSwapped ? [swapWarning(values.names, sourceSrid)] : [] })
  }
  const isWeak = !x.isSure
  if (isWeak && !mayBeCoordinates(columns, pair, values)) return undefined
  if (areDegrees(xs, ys)) return found(false, { warnings: isWeak ? [degreesWarning(values.names)] : [] })
  return resolveSystem(pair, values, found)
}

/** Whether columns that are called x and y, and nothing else, look like places rather than like a plot. */
function mayBeCoordinates(columns: TextColumns, { x, y }: Pair, { xs, ys }: Values): boolean {
  if (!isPlainPrefix(x.prefix)) return false
  return areDegrees(xs, ys) ? areTelling(columns, x.column, y.column) && !areNearOrigin(xs, ys) : areLarge(xs, ys)
}

/** The one reference system that names and values tell; where they tell more or none, the client is asked. */
function resolveSystem(
  { x, y }: Pair,
  { names, xs, ys }: Values,
  found: (isSwapped: boolean, more: Omit<ChosenGeometry, 'geometryColumns'>) => ChosenGeometry,
): ChosenGeometry {
  const fits = systemsFor({ words: [...x.words, ...y.words], manners: [...x.manners, ...y.manners] }, xs, ys)
  const [fit] = fits
  if (fit && fits.length === 1) {
    return found(fit.isSwapped, { srid: fit.system.srid, warnings: [systemWarning(names, fit)] })
  }
  const systems = fits.length > 1 ? fits.map(({ system }) => system) : likelySystems(xs, ys)
  return found(false, { warnings: [], ...hintOf(systems) })
}

function xyOf({ names }: TextColumns, x: number, y: number): GeometryColumns {
  return { kind: 'xy', x, y, z: names.findIndex((name) => zName.test(name)), isGeographic: false }
}

const within = (values: readonly number[], most: number): boolean =>
  values.filter((value) => Math.abs(value) <= most).length >= values.length * 0.95

export const areDegrees = (xs: readonly number[], ys: readonly number[]): boolean => within(xs, 360) && within(ys, 90)

/** Metres from a far origin: what is smaller may be pixels, or anything. */
const areLarge = (xs: readonly number[], ys: readonly number[]): boolean =>
  shareAbove(xs, 10_000) > 0.5 && shareAbove(ys, 10_000) > 0.5

const shareAbove = (values: readonly number[], least: number): number =>
  values.filter((value) => Math.abs(value) >= least).length / (values.length || 1)

/** The values of most plots are near zero, and of few maps. */
const areNearOrigin = (xs: readonly number[], ys: readonly number[]): boolean => within(xs, 10) && within(ys, 10)

/** Degrees come with decimals: four of them are ten metres. */
const areTelling = ({ cells }: TextColumns, x: number, y: number): boolean =>
  [x, y].every((column) => shareOf(cells[column] ?? [], (cell) => /[.,]\d{4,}/.test(cell)) > 0.5)

const nameOf = ({ title, srid }: CoordinateSystem): string => `${title} (EPSG:${srid})`

export function hintOf(systems: readonly CoordinateSystem[]): { sridHint?: string } {
  if (systems.length === 0) return {}
  return { sridHint: `By their range they may be ${systems.slice(0, 6).map(nameOf).join(' or ')}.` }
}

function systemWarning(names: string, { system, isSwapped }: SystemFit): Warning {
  const swapped = isSwapped ? ', the second of them as the easting' : ''
  const message = `The columns ${names} were read in ${nameOf(system)}${swapped}, as their names and values show. If that is wrong, give the field sourceSrid, or geometry.`
  return { code: 'srid_assumed', message }
}

function swapWarning(names: string, srid: number): Warning {
  const message = `Of the columns ${names} the second was read as the easting, because only so its values are in the range of EPSG:${srid}. If that is wrong, give the field geometry.`
  return { code: 'coordinate_order', message }
}

function degreesWarning(names: string): Warning {
  const message = `The columns ${names} were read as longitude and latitude. If they are no coordinates, give the field geometry: "none"; if they are others, sourceSrid.`
  return { code: 'coordinates_assumed', message }
}
