// How many bytes rows take in a tile, estimated before one is made.
import { joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'

/** What a feature takes besides its shape and its values: tags and lengths, the id, svc_count. */
const featureBytes = 16
/** A number of the table of keys and one of the table of values. */
const tagBytes = 3
/** A corner of a shape. */
export const cornerBytes = 3
/** What is left of a simplified shape that is smaller than a pixel. */
const fewestCorners = 12

/**
 * The bytes of a row without its shape, over a sample of rows: equal values are stored once in a tile, so the more values are
 * the same, the less they take.
 */
export function rowBytesSql(values: readonly Sql[]): Sql {
  const one = (value: Sql): Sql =>
    sql`coalesce(${raw(String(tagBytes))} + avg(least(octet_length((${value})::text), 10000)) * count(DISTINCT left((${value})::text, 200)) / count(*), 0)`
  return sql`(${joinSql([raw(String(featureBytes)), ...values.map(one)], ' + ')})::float8`
}

/** The bytes of a simplified shape by its size class and its corners. */
export const shapeBytes = (size: number, corners: number): number =>
  cornerBytes * Math.min(corners, fewestCorners * 2 ** size)
