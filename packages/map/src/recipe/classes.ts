/** The classes of a graduated colouring, from which layers and legend are made. */
import { rampColours } from './ramp-colours.ts'
import type { Category, Graduated, Theme } from './recipe.ts'

export interface GraduatedClass {
  /** The lower bound, inclusive; the minimum for the first class. */
  from: number
  /** The upper bound; undefined for the last class. */
  to: number | undefined
  colour: string
}

export function graduatedClasses(graduated: Graduated, theme: Theme): GraduatedClass[] {
  const { breaks, min, own } = graduated
  const starts = [min, ...breaks]
  const colours = rampColours(starts.length, { ...graduated, theme, centre: centreOf(graduated) })
  return starts.map((from, index) => ({
    from,
    to: breaks[index],
    colour: own[index] ?? colours[index] ?? '#888888',
  }))
}

/** Centres a diverging ramp at zero if there are values on both sides. */
function centreOf({ min, max, breaks }: Graduated): number | undefined {
  if (min >= 0 || max <= 0) return undefined
  const below = breaks.filter((value) => value < 0).length
  return breaks.includes(0) ? below + 0.5 : below
}

/** Assigns colours to categories, when they are created or the ramp is changed. */
export function colouredCategories(
  values: readonly Category['value'][],
  ramp: Pick<Graduated, 'ramp' | 'isReversed'>,
  theme: Theme,
): Category[] {
  const colours = rampColours(values.length, { ...ramp, theme })
  return values.map((value, index) => ({ value, colour: colours[index] ?? '#888888' }))
}
