import { raw, type Sql, sql } from '../../kernel/db/sql.ts'

/**
 * A geometry brought back between the edges of the world, as wrapGeometry of antimeridian.ts does in memory: moved as a whole so that it
 * begins there, then cut where it goes on, as RFC 7946 says. Of a cut only parts of the same kind are kept. `period` is the width of the
 * world in the units of the geometry. One within the world, which nearly all are, costs a look at its box. `value` is named often.
 */
export function wrapColumnSql(value: Sql, period: number): Sql {
  const [turn, half] = [raw(String(period)), raw(String(period / 2))]
  const moved = sql`ST_Translate(${value}, -${turn} * floor((ST_XMin(${value}) + ${half}) / ${turn}), 0)`
  const wrap = (shape: Sql): Sql => sql`ST_WrapX(${shape}, ${half}, -${turn})`
  // What is wider than the world goes on for another turn.
  const isWide = sql`ST_XMax(${value}) - ST_XMin(${value}) > ${turn}`
  const cut = sql`CASE WHEN ${isWide} THEN ${wrap(wrap(moved))} ELSE ${wrap(moved)} END`
  return sql`CASE WHEN ST_XMin(${value}) < -${half} OR ST_XMax(${value}) > ${half} THEN
      CASE WHEN ST_XMax(${moved}) <= ${half} THEN ${moved}
        WHEN GeometryType(${value}) = 'GEOMETRYCOLLECTION' THEN ${cut}
        ELSE ST_CollectionExtract(${cut}, ST_Dimension(${value}) + 1) END
    ELSE ${value} END`
}

/** The same of an expression, which is computed once. */
export const wrapSql = (value: Sql, period: number): Sql =>
  sql`(SELECT ${wrapColumnSql(raw('shape'), period)} FROM (SELECT ${value} AS shape OFFSET 0) AS given)`
