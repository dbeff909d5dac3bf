// The statistics of borders between tiles: whether both sides show as large a part of the data as chance allows.

/** The centre of a row's box in web mercator, from 0 in the north west to 1, and the larger side of the box. */
export type SeamRow = { readonly id: number; readonly x: number; readonly y: number; readonly width: number }

/** In tiles of the zoom. */
const at = ({ x, y }: SeamRow, zoom: number): [number, number] => [x * 2 ** zoom, y * 2 ** zoom]

export function tileOf(place: SeamRow, zoom: number): string {
  const [x, y] = at(place, zoom)
  return `${Math.floor(x)}/${Math.floor(y)}`
}

/** Of a tile that may have as few features as those of these tests. */
const cells = 16

const cellOf = (place: SeamRow, zoom: number): string => {
  const [x, y] = at(place, zoom)
  return `${Math.floor(x * cells)}/${Math.floor(y * cells)}`
}

/** Shapes as wide as an eighth of a tile are always shown and take no part in cells. */
const isLarge = ({ width }: SeamRow, zoom: number): boolean => width * 2 ** zoom >= 1 / 8
/** Rows of one class have the same rate: those below two pixels, and those of about the same width. */
const classOf = ({ width }: SeamRow, zoom: number): number =>
  Math.max(0, 1 + Math.floor(Math.log2(width * 2 ** zoom * 256)))

/** How many rows lie in the cell of each row. */
export function cellCounts(places: readonly SeamRow[], zoom: number): ReadonlyMap<number, number> {
  const counts = new Map<string, number>()
  const inCells = places.filter((place) => !isLarge(place, zoom))
  for (const place of inCells) counts.set(cellOf(place, zoom), (counts.get(cellOf(place, zoom)) ?? 0) + 1)
  return new Map(inCells.map((place) => [place.id, counts.get(cellOf(place, zoom)) ?? 1]))
}

/** The chance of a row to be shown among `n` in its cell: its rank is below the rate, or all are not and it is the lowest. */
const chance = (rate: number, n: number): number => rate + (1 - rate) ** n / n

/** The strips compared on both sides of a border are this part of a tile wide. */
const strip = 1 / 8

/**
 * A two-proportion chi-squared test over all borders of a zoom. For each border, strips of equal width on both sides: n1 of N1
 * rows are shown, n2 of N2. The rule shows one row of each cell at least, so where rows are sparse a larger part is shown: E1
 * and E2 are what it shows of each strip for the density there, at the one rate that explains the whole zoom. Then
 * n1 E2 - n2 E1 has the mean 0, and at most the variance E2² V1 + E1² V2 with V the sum of p (1 - p): rows of one cell push each
 * other out, which makes it smaller. The sum of their squares is distributed by chi-squared with as many degrees of freedom as
 * there are borders, of each size class of shapes, or below that. Borders where less than five are expected to be shown, or hidden, on a side are left out.
 */
export function borderTest(
  places: readonly SeamRow[],
  shown: ReadonlySet<number>,
  zoom: number,
  counts: ReadonlyMap<number, number>,
): { probability: number; borders: number } {
  const classes = Map.groupBy(
    places.filter((place) => !isLarge(place, zoom)),
    (place) => classOf(place, zoom),
  )
  let [sum, borders] = [0, 0]
  for (const some of classes.values()) {
    for (const [one, other] of sidesOf(some, shown, zoom, counts)) {
      if (Math.min(one.expected, other.expected, one.hidden, other.hidden) < 5) continue
      borders++
      const difference = one.shown * other.expected - other.shown * one.expected
      sum += difference ** 2 / (other.expected ** 2 * one.variance + one.expected ** 2 * other.variance)
    }
  }
  return { probability: borders === 0 ? 1 : chiSquaredTail(sum, borders), borders }
}

function sidesOf(
  places: readonly SeamRow[],
  shown: ReadonlySet<number>,
  zoom: number,
  counts: ReadonlyMap<number, number>,
): Iterable<[Side, Side]> {
  const rate = rateThatShows(places, shown, counts)
  const sides = new Map<string, [Side, Side]>()
  for (const place of places) {
    const p = chance(rate, counts.get(place.id) ?? 1)
    for (const [axis, position] of at(place, zoom).entries()) {
      const border = Math.round(position)
      if (Math.abs(position - border) >= strip) continue
      const along = Math.floor(at(place, zoom)[1 - axis] ?? 0)
      const key = `${axis} ${border} ${along}`
      const both = sides.get(key) ?? [noSide(), noSide()]
      sides.set(key, both)
      const side = both[position < border ? 0 : 1]
      side.shown += shown.has(place.id) ? 1 : 0
      side.expected += p
      side.hidden += 1 - p
      side.variance += p * (1 - p)
    }
  }
  return sides.values()
}

type Side = { shown: number; expected: number; hidden: number; variance: number }
const noSide = (): Side => ({ shown: 0, expected: 0, hidden: 0, variance: 0 })

/** The rate at which the rule shows as many rows as are shown. */
function rateThatShows(
  places: readonly SeamRow[],
  shown: ReadonlySet<number>,
  counts: ReadonlyMap<number, number>,
): number {
  const wanted = places.filter(({ id }) => shown.has(id)).length
  const byCount = Map.groupBy(places, ({ id }) => counts.get(id) ?? 1)
  let [low, high] = [0, 1]
  for (let step = 0; step < 40; step++) {
    const rate = (low + high) / 2
    let sum = 0
    for (const [n, rows] of byCount) sum += rows.length * chance(rate, n)
    if (sum < wanted) low = rate
    else high = rate
  }
  return (low + high) / 2
}

/** The probability of a larger value, by the approximation of Wilson and Hilferty. */
function chiSquaredTail(value: number, freedom: number): number {
  const spread = 2 / (9 * freedom)
  return 1 - normal(((value / freedom) ** (1 / 3) - (1 - spread)) / Math.sqrt(spread))
}

/** The distribution function of the normal distribution (Abramowitz and Stegun 7.1.26). */
function normal(z: number): number {
  const t = 1 / (1 + (0.3275911 * Math.abs(z)) / Math.SQRT2)
  const series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
  const error = 1 - series * Math.exp((-z * z) / 2)
  return z >= 0 ? (1 + error) / 2 : (1 - error) / 2
}
