// What the change log tells of rows in another database: how many, their keys, and the box around them (as svc.log_change does here).
import type { Row } from '../../../kernel/db/db.ts'
import { ident, joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { EditColumn, EditTable } from './edit-table.ts'

/** [srid, minX, minY, maxX, maxY]. */
export type RawBox = readonly [srid: number, minX: number, minY: number, maxX: number, maxY: number]

export type RowSummary = {
  readonly count: number
  /** As JSON; undefined without a key, or if there are too many. */
  readonly keys: readonly string[] | undefined
  /** One at most; undefined where it is not known. */
  readonly boxes: readonly RawBox[] | undefined
}

/** More keys than these are not told. */
const maxKeys = 1_000

/** SQL: what is told of each row of a table with the alias `q`. */
export const summaryColumns = (table: EditTable): Sql =>
  sql`${keySql(table.key)}::text AS told_key, ${boxesSql([...table.columns.values()].filter(({ geometry, isReadable }) => geometry && isReadable))}::text AS told_boxes`

/** As in the answers of queries: integers beyond 2^53 are text. */
function keySql(key: readonly EditColumn[]): Sql {
  const [first, ...others] = key.map(({ name, dbType }) => {
    const value = sql`q.${ident(name)}`
    if (dbType !== 'bigint') return sql`to_jsonb(${value})`
    return sql`CASE WHEN ${value} BETWEEN -9007199254740991 AND 9007199254740991 THEN to_jsonb(${value}) ELSE to_jsonb(${value}::text) END`
  })
  if (!first) return raw('NULL')
  return others.length === 0 ? sql`(${first})` : sql`jsonb_build_array(${joinSql([first, ...others], ', ')})`
}

function boxesSql(geometries: readonly EditColumn[]): Sql {
  if (geometries.length === 0) return raw('NULL')
  const shapes = geometries.map(({ name }) => {
    const shape = sql`q.${ident(name)}::geometry`
    return sql`(ST_SRID(${shape}), ${shape}::box2d)`
  })
  return sql`(SELECT jsonb_agg(jsonb_build_array(s, ST_XMin(b), ST_YMin(b), ST_XMax(b), ST_YMax(b)))
    FROM (VALUES ${joinSql(shapes, ', ')}) AS found (s, b) WHERE b IS NOT NULL)`
}

/** SQL: one row with the summary of those of a statement that returns `summaryColumns`. */
export const summarySql = (statement: Sql): Sql => sql`
  WITH told AS (${statement})
  SELECT count(*)::int4 AS count, CASE WHEN count(*) <= ${maxKeys}::int4 THEN array_agg(told_key) END AS keys,
    (SELECT jsonb_agg(box) FROM (
      SELECT jsonb_build_array((b->>0)::int4, min((b->>1)::float8), min((b->>2)::float8), max((b->>3)::float8), max((b->>4)::float8)) AS box
      FROM told CROSS JOIN LATERAL jsonb_array_elements(told_boxes::jsonb) AS b GROUP BY (b->>0)::int4) AS boxes)::text AS boxes
  FROM told`

/** The answer to `summarySql`. */
export function readSummary(row: Row | undefined): RowSummary {
  const { count = 0, keys = null, boxes = null } = (row ?? {}) as { count?: number; keys?: unknown; boxes?: unknown }
  return { count, keys: keysOf(Array.isArray(keys) ? keys : [null]), boxes: merged(boxesOf(boxes)) }
}

/** Of rows with `summaryColumns`. */
export function summaryOf(rows: readonly Row[]): RowSummary {
  return {
    count: rows.length,
    keys: rows.length <= maxKeys ? keysOf(rows.map(({ told_key }) => told_key)) : undefined,
    boxes: merged(rows.flatMap(({ told_boxes }) => boxesOf(told_boxes))),
  }
}

const keysOf = (keys: readonly unknown[]): readonly string[] | undefined =>
  keys.every((key) => typeof key === 'string') ? keys : undefined

const boxesOf = (text: unknown): RawBox[] => (typeof text === 'string' ? JSON.parse(text) : [])

/** The box around all; undefined where they are of different systems, or have no numbers. */
function merged(boxes: readonly RawBox[]): readonly RawBox[] | undefined {
  const [first] = boxes
  if (!first) return []
  if (!boxes.every((box) => box[0] === first[0] && box.every(Number.isFinite))) return undefined
  return [boxes.reduce(around)]
}

const around = (one: RawBox, other: RawBox): RawBox => [
  one[0],
  Math.min(one[1], other[1]),
  Math.min(one[2], other[2]),
  Math.max(one[3], other[3]),
  Math.max(one[4], other[4]),
]
