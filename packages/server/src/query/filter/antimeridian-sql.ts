// Longitudes beyond ±180 in PostGIS: the copies of an operand for the index, and rows brought back into -180 … 180 for exact tests.
import { joinSql, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import type { Attribute } from '../values/attribute.ts'
import { movedSql } from './shape-sql.ts'
import { wrapSql } from './wrap-sql.ts'

/** The operand, and its copies a turn of the earth further if rows can be there. */
function copiesSql({ period }: Attribute, operand: Sql): readonly Sql[] {
  if (period === undefined) return [operand]
  return [operand, ...[period, -period].map((by) => sql`ST_Translate(${operand}, ${raw(String(by))}, 0)`)]
}

/** True where the test is for one of the copies. Written as OR, of which each part can use a GiST index. */
export function anyCopySql(attribute: Attribute, operand: Sql, test: (copy: Sql) => Sql): Sql {
  const tests = copiesSql(attribute, operand).map(test)
  return tests.length === 1 && tests[0] ? tests[0] : sql`(${joinSql(tests, ' OR ')})`
}

/** The value in a reference system like movedSql, and within the bounds of the world. */
export function placedSql(attribute: Attribute, value: Sql, srid: number): Sql {
  const { period, isVarying } = attribute
  const moved = movedSql(attribute, value, srid)
  // Those of another system were wrapped before they were transformed.
  const isWrapped = period === undefined || !(isVarying || (attribute.srid || 4326) === srid)
  return isWrapped ? moved : wrapSql(moved, period)
}

/** `[west, south, east, north]` of a box in degrees, as wrapExtent of antimeridian.ts has it. */
export function wrappedCornersSql(box: Sql): Sql {
  return sql`(SELECT to_json(CASE
      WHEN xmin >= -180 AND xmax <= 180 THEN ARRAY[xmin, ymin, xmax, ymax]
      WHEN xmax + shift <= 180 THEN ARRAY[xmin + shift, ymin, xmax + shift, ymax]
      WHEN xmax - xmin > 180 THEN ARRAY[-180, ymin, 180, ymax]
      ELSE ARRAY[xmin + shift, ymin, xmax + shift - 360, ymax] END)
    FROM (SELECT ST_XMin(box) AS xmin, ST_YMin(box) AS ymin, ST_XMax(box) AS xmax, ST_YMax(box) AS ymax,
      -360 * floor((ST_XMin(box) + 180) / 360) AS shift FROM (SELECT ${box} AS box OFFSET 0) AS given) AS corners)`
}
