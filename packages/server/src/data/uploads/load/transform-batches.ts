/**
 * Transforms a table from a reference system that is known only as text, where the role may not give it a temporary SRID: the table
 * spatial_ref_sys belongs to whoever created PostGIS. PostGIS parses the text once for each call (70 ms), so a call gets a collection of
 * many rows' geometries.
 */
import type { Db } from '../../../kernel/db/db.ts'
import { raw, type Sql, sql } from '../../../kernel/db/sql.ts'

/** Taking one geometry out of a collection reads all of it, so a collection must stay small. */
const maxRows = 200
const maxBytes = 1_000_000

type TransformedTable = {
  readonly table: Sql
  readonly column: Sql
  readonly text: string
  readonly target: number
}

/** The places of rows and their transformed shapes; of those rows of the table as `q` that meet the condition. */
export const batchedShapes = ({ table, column, text, target }: TransformedTable, condition: Sql): Sql => sql`
  SELECT places[number] AS place, ST_GeometryN(shapes, number) AS shape
  FROM (
    SELECT array_agg(place ORDER BY place) AS places,
      ST_Transform(ST_Collect(shape ORDER BY place), ${text}::text, ${target}::int4) AS shapes
    FROM (
      SELECT ctid AS place, ${column} AS shape, row_number() OVER in_order / ${maxRows}::int4 AS by_count,
        sum(pg_column_size(${column})) OVER in_order / ${maxBytes}::int4 AS by_size
      FROM ${table} AS q WHERE ${column} IS NOT NULL AND ${condition} WINDOW in_order AS (ORDER BY ctid)) AS numbered
    GROUP BY by_count, by_size) AS batches
  CROSS JOIN LATERAL generate_subscripts(places, 1) AS number`

/** The geometries keep their column's SRID: that is changed with the column's type, which also rewrites the table without its old rows. */
export async function transformInBatches(db: Db, transformed: TransformedTable): Promise<void> {
  const { table, column } = transformed
  await db.query(sql`
    UPDATE ${table} AS t SET ${column} = ST_SetSRID(moved.shape, ST_SRID(t.${column}))
    FROM (${batchedShapes(transformed, raw('TRUE'))}) AS moved
    WHERE t.ctid = moved.place`)
}
