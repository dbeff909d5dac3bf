/**
 * Moves geometries in degrees that go on beyond the antimeridian, such as those of a grid from 0 to 360, to where everybody
 * looks for them: into -180 … 180. Lines and areas that cross it are cut there, as RFC 7946 says.
 */
import { ident, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { wrapColumnSql } from '../../../query/filter/wrap-sql.ts'
import { turnDegrees } from '../../../query/geometry/antimeridian.ts'
import type { Warning } from '../readers/reader.ts'
import { geometryColumn } from './column-names.ts'
import type { StagedTable } from './staged-table.ts'
import { isBeyondAntimeridian, roundingDegrees } from './table-plan.ts'

/** Returns the table, whose column takes several parts where single ones were cut, and a warning if rows were moved. */
export async function wrapLongitudes(staged: StagedTable): Promise<{ staged: StagedTable; warnings: Warning[] }> {
  const { plan, target, name } = staged
  const unchanged = { staged, warnings: [] }
  if (!plan.geometry || !(await mayBeBeyond(staged))) return unchanged
  const [table, column] = [ident(target.schema, name), ident(geometryColumn)]
  const [row] = await target.db.query<{ moved: number | null }>(sql`
    SELECT sum(${isBeyondSql(column)}::int4)::int4 AS moved FROM ${table} WHERE ${isOutsideSql(column)}`)
  const moved = row?.moved ?? null
  if (moved === null) return unchanged
  const { value, type } = wrappedColumn(column, plan.geometry.type, moved > 0)
  await target.db.query(sql`
    ALTER TABLE ${table} ALTER COLUMN ${column} TYPE ${raw(`geometry(${type},${plan.geometry.reprojection.source})`)} USING ${value}`)
  return {
    staged: { ...staged, doubtful: undefined, plan: { ...plan, geometry: { ...plan.geometry, type } } },
    warnings: moved > 0 ? [wrappedRows(moved)] : [],
  }
}

/** The file's extent says that rows may lie beyond ±180 degrees. */
export async function mayBeBeyond(staged: StagedTable): Promise<boolean> {
  const { geometry, layer } = staged.plan
  if (!geometry || !layer.extent || !isBeyondAntimeridian(layer.extent)) return false
  return isGeographic(staged, geometry.reprojection.source)
}

/** Of a row that is to be changed: moved, or brought back from an error of rounding. */
export const isOutsideSql = (column: Sql): Sql => sql`(ST_XMin(${column}) < -180 OR ST_XMax(${column}) > 180)`

/** Of a row that is to be moved. */
export const isBeyondSql = (column: Sql): Sql =>
  sql`(ST_XMin(${column}) < ${raw(String(-180 - roundingDegrees))} OR ST_XMax(${column}) > ${raw(String(180 + roundingDegrees))})`

/**
 * A column of single lines or areas takes several parts afterwards, where rows are moved. A row that is beyond ±180 by an error of rounding
 * only, as Natural Earth has them, is not cut, or a part without width would lie on the other side of the world.
 */
export function wrappedColumn(
  column: Sql,
  type: string,
  isMoved: boolean,
): { readonly value: Sql; readonly type: string } {
  const rounded = sql`CASE WHEN ${isOutsideSql(column)} THEN ST_SnapToGrid(${column}, 0, 0, ${raw(String(roundingDegrees))}, 0) ELSE ${column} END`
  if (!isMoved) return { value: rounded, type }
  const value = sql`CASE WHEN ${isBeyondSql(column)} THEN ${wrapColumnSql(column, turnDegrees)} ELSE ${rounded} END`
  return /^(LineString|Polygon)Z?$/.test(type)
    ? { value: sql`ST_Multi(${value})`, type: `Multi${type}` }
    : { value, type }
}

export const wrappedRows = (count: number): Warning => ({
  ...wrapWarning(count === 1 ? 'One row has' : `${count} rows have`),
  count,
})

export const wrapWarning = (rows: string): Warning => ({
  code: 'wrapped_longitudes',
  message: `${rows} longitudes beyond 180 degrees. They are moved by 360 into -180 … 180; lines and areas are cut at the antimeridian.`,
})

async function isGeographic({ target }: StagedTable, srid: number): Promise<boolean> {
  const [row] = await target.db.query<{ found: boolean }>(sql`
    SELECT EXISTS (SELECT FROM spatial_ref_sys WHERE srid = ${srid}::int4 AND srtext ~ '^(GEOGCS|GEOGCRS)') AS found`)
  return row?.found ?? false
}
