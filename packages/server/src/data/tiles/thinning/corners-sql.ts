// Where rows are and how large they are, in SQL and in web mercator; see thinning-rule.ts.
import { raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import { unitInMetres } from '../source/tile-bounds.ts'
import { isLonLat, mercatorOf, mercatorPosition, toMercator } from '../sql/mercator-sql.ts'
import { stored, type TileQuery } from '../sql/tile-sql.ts'

export type Corners = { readonly x0: Sql; readonly y0: Sql; readonly x1: Sql; readonly y1: Sql }

/** The corners of a row's box in metres. Longitudes and latitudes are projected here, others by the database. */
export function cornersOf(geometry: Attribute, isPoint: boolean): Corners {
  if (isPoint) {
    const { x, y } = mercatorPosition(geometry)
    return { x0: x, y0: y, x1: x, y1: y }
  }
  const isPlain = isLonLat(geometry) && !geometry.geography
  const value = isPlain || (geometry.srid === 3857 && !geometry.mixed) ? stored(geometry) : toMercator(geometry)
  const corner = (x: string, y: string) => ({ x: sql`${raw(x)}(${value})`, y: sql`${raw(y)}(${value})` })
  const [low, high] = [corner('ST_XMin', 'ST_YMin'), corner('ST_XMax', 'ST_YMax')]
  const [from, to] = isPlain ? [mercatorOf(low.x, low.y), mercatorOf(high.x, high.y)] : [low, high]
  return { x0: from.x, y0: from.y, x1: to.x, y1: to.y }
}

const half = raw(String(unitInMetres(0, 2)))

/** The cell of a place at a zoom, from 0 in the west and in the south; with no bits of cells its tile. */
export function cellAt(zoom: number, metres: Sql, bits: number): Sql {
  const width = raw(String(unitInMetres(zoom, 2 ** bits)))
  return sql`floor(greatest(-1e9, least(1e9, (${metres} + ${half}) / ${width})))::int4`
}

export const widthOf = ({ x0, y0, x1, y1 }: Corners): Sql => sql`greatest(${x1} - ${x0}, ${y1} - ${y0})`

/** Whether the geometry's own coordinates tell its cell, without a transformation of each row. */
export function hasCells(
  { geometry, isWrapped }: Pick<TileQuery, 'geometry' | 'isWrapped'>,
  isPoint: boolean,
): boolean {
  const { geography, mixed, srid } = geometry
  return (isPoint || !isWrapped) && !geography && !mixed && ((srid || 4326) === 4326 || srid === 3857)
}
