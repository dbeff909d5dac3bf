/**
 * The rule by which rows are thinned, the same for every kind of source: it depends on the dataset and the zoom, never on the tile.
 * Each row has a rank, a fixed uniform number. At a zoom a row is shown if its rank is below the zoom's rate, or if no row of its
 * cell has a lower one. Rates rise with the zoom and cells nest, so what is shown stays shown at every higher zoom; neighbouring
 * tiles agree, as nothing in the rule knows of them; and shown rows are a fair sample, so relative density survives.
 */

/** Ranks are whole numbers from 0 to 2^31 - 1; a rate is a share of them. */
const rankBits = 31
export const ranks = 2 ** rankBits

/**
 * A tile has 2^5 × 2^5 cells, fewer where it may hold few features. Those of a zoom lie in those of the zooms below, and each has
 * one row shown at least.
 */
export const cellBits = 5

/** The zooms beyond are never thinned. */
export const highestThinned = 16

/** By zoom; a zoom beyond the end is not thinned. */
export type Rates = readonly number[]

export const rateAt = (rates: Rates, zoom: number): number => rates[zoom] ?? 1

/**
 * Lines and areas are classed by the width of their boxes, the larger side in tile widths of the zoom: 0 is below a 256th (two
 * pixels), and each further class twice as wide. Points are of class 0.
 */
export const visibleWidth = 1 / 256
export const sizeClass = (width: number): number =>
  width < visibleWidth ? 0 : Math.min(alwaysShown, 1 + Math.floor(Math.log2(width / visibleWidth)))

/** What is as wide as an eighth of a tile is always shown. It stands for itself, and takes no part in its cell. */
export const alwaysShown = 6
/** The widest of the others, in tiles: so far from its centre a shape may be seen. */
export const widestInCells = visibleWidth * 2 ** (alwaysShown - 1)

/** The share of a class that is shown: in proportion to the area, so that the large come first and the small keep their texture. */
export const shareOf = (rate: number, size: number): number => (size >= alwaysShown ? 1 : Math.min(1, rate * 4 ** size))

/** The first rank that is not shown. */
export const rankLimit = (rate: number, size = 0): number => Math.round(shareOf(rate, size) * ranks)

/**
 * What a shown row stands for are rows of its own class: so a large shape is not drawn for many small ones. Of classes of which a cell
 * shows none, the row with the cell's lowest rank stands for the rows. Of rows that are counted together: what the row stands for
 * that is shown at this place, by rank from 0.
 */
export const standsFor = (place: number, shown: number, rows: number): number =>
  Math.floor(rows / shown) + (place < rows % shown ? 1 : 0)

/** What one tile would hold without thinning, by size class. */
export type TileLoad = readonly { readonly rows: number; readonly bytes: number }[]

export type ThinningBudget = {
  /** A zoom is thinned if one of its tiles has more. */
  readonly most: { readonly rows: number; readonly bytes: number }
  /** What the densest tile of a thinned zoom shows at most. */
  readonly aim: { readonly rows: number; readonly bytes: number }
}

/** More rows than these make a tile slow without making it clearer. */
const enough = { most: 20_000, aim: 10_000 }
/** Estimates err. */
const reserve = 0.8
/** The part of the aim that is for rows below the rate; the rest is for those that are shown as the only ones of their cells. */
const ratedPart = 3 / 4

export const thinningBudget = (budget: {
  readonly maxFeatures: number
  readonly maxBytes: number
}): ThinningBudget => ({
  most: { rows: Math.min(enough.most, budget.maxFeatures), bytes: budget.maxBytes },
  aim: { rows: Math.min(enough.aim, reserve * budget.maxFeatures), bytes: reserve * budget.maxBytes },
})

/** Rates are powers of √2: an estimate that changes a little leaves them as they are. */
const stepsPerHalf = 2
/** One row of two thousand million. */
const mostSteps = stepsPerHalf * rankBits

/** The rates of zooms 0, 1, …, of each of which the densest tiles are given. */
export function chooseRates(densest: readonly (readonly TileLoad[])[], { most, aim }: ThinningBudget): Rates {
  const rates: number[] = []
  const rated = { rows: ratedPart * aim.rows, bytes: ratedPart * aim.bytes }
  for (let zoom = densest.length - 1, above = 0; zoom >= 0; zoom--) {
    const loads = densest[zoom] ?? []
    if (!loads.every((load) => isWithin(load, 1, most))) {
      while (above < mostSteps && !loads.every((load) => isWithin(load, rateOf(above), rated))) above++
    }
    rates[zoom] = rateOf(above)
  }
  const last = rates.findLastIndex((rate) => rate < 1)
  return rates.slice(0, last + 1)
}

const rateOf = (steps: number): number => 2 ** (-steps / stepsPerHalf)

function isWithin(load: TileLoad, rate: number, limit: ThinningBudget['aim']): boolean {
  let [rows, bytes] = [0, 0]
  load.forEach((part, size) => {
    rows += part.rows * shareOf(rate, size)
    bytes += part.bytes * shareOf(rate, size)
  })
  return rows <= limit.rows && bytes <= limit.bytes
}

/** How finely the tiles of a dataset are divided into cells: if each shows a row, these are within the rest of the aim. */
export function cellBitsFor(densest: readonly (readonly TileLoad[])[], { aim }: ThinningBudget): number {
  const loads = densest.flat()
  const fitting = loads.map((load) => {
    const rows = load.reduce((sum, part) => sum + part.rows, 0)
    const bytes = load.reduce((sum, part) => sum + part.bytes, 0)
    return bytes > 0 ? (aim.bytes * rows) / bytes : aim.rows
  })
  const most = (1 - ratedPart) * Math.min(aim.rows, ...fitting)
  return Math.max(0, Math.min(cellBits, Math.floor(Math.log2(most) / 2)))
}
