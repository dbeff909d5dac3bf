// Where rows of an engine without PostGIS lie in the grid of thinning, in SQL: fractions of the world, from the north-west.
import { raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { Thinning } from '../../../query/execution/dialect.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import type { Definitions } from '../../../query/values/projection.ts'
import { mercatorCodes } from '../sql/tile-sql.ts'
import { cellBits } from '../thinning/thinning-rule.ts'

export type BlockGrid = {
  readonly x: Sql
  readonly y: Sql
  /** Of the geometry's box; of a point 0. */
  readonly width: Sql
  /** How far beyond a tile the cells reach that it has a part of, in tiles. */
  readonly margin: number
}

const half = 20037508.342789244
const world = raw(String(2 * half))
const cellWidth = 2 ** -cellBits
const maxLatitude = raw('85.0511287798066')

/**
 * Cells are those of web mercator where longitudes and latitudes are stored, or its own metres. The engine projects nothing, so in
 * another system they are squares of that: as wide in metres of its own, and not in line with tiles, which nobody sees.
 */
export function blockGrid(geometry: Attribute, thinning: Thinning, definitions: Definitions): BlockGrid {
  const { x, y, width } = thinning.place(geometry)
  const srid = geometry.srid || 4326
  if (mercatorCodes.has(srid)) {
    const [right, down] = [sql`(${x} + ${raw(String(half))})`, sql`(${raw(String(half))} - ${y})`]
    return {
      x: sql`${right} / ${world}`,
      y: sql`${down} / ${world}`,
      width: sql`${width} / ${world}`,
      margin: cellWidth,
    }
  }
  if (srid === 4326 || /\+proj=longlat/.test(definitions[srid] ?? '')) {
    const sine = sql`sin(radians(greatest(-${maxLatitude}, least(${maxLatitude}, ${y}))))`
    const down = sql`(0.5 - ln((1 + ${sine}) / (1 - ${sine})) / (4 * pi()))`
    return { x: sql`((${x} + 180) / 360)`, y: down, width: sql`(${width} / 360)`, margin: cellWidth }
  }
  return {
    x: sql`(${x} / ${world})`,
    y: sql`(-(${y}) / ${world})`,
    width: sql`(${width} / ${world})`,
    margin: 4 * cellWidth,
  }
}

/** The number of a square, of which the world has 2^bits each way. */
export const squareOf = (fraction: Sql, bits: number): Sql =>
  sql`floor(${fraction} * ${raw(String(2 ** bits))})::BIGINT`
