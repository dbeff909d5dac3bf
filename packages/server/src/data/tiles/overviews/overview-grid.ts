// The grid of overviews: a square of cells over the map, the same for all zooms.
import { raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { cellBits, highestThinned } from '../thinning/thinning-rule.ts'

const half = 20037508.342789244

export const tileMetres = (zoom: number): number => (2 * half) / 2 ** zoom

/** No overviews above this zoom, however dense the data. */
export const maxZoom = highestThinned
const gridBits = maxZoom + cellBits

/** How many bits lower a tile's number is than that of its cells in the finest grid. */
export const tileShift = (zoom: number): number => gridBits - zoom
/** The same of a cell of this zoom. */
export const cellShift = (zoom: number, cellBits: number): number => tileShift(zoom) - cellBits

/** The number of a place in the finest grid, clamped, so that coordinates far outside the map still fit an integer. */
export const cellOf = (metres: Sql): Sql =>
  sql`floor(greatest(-1e9, least(1e9, (${metres} + ${raw(String(half))}) / ${raw(String(2 * half))} * ${raw(String(2 ** gridBits))})))::int4`
