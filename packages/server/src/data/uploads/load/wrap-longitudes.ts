/**
 * Moves geometries in degrees that go on beyond the antimeridian, such as those of a grid from 0 to 360, to where everybody
 * looks for them: into -180 … 180. Lines and areas that cross it are cut there, as RFC 7946 says.
 */
import { ident, raw, sql } from '../../../kernel/db/sql.ts'
import { wrapColumnSql } from '../../../query/filter/wrap-sql.ts'
import { turnDegrees } from '../../../query/geometry/antimeridian.ts'
import type { Warning } from '../readers/reader.ts'
import { geometryColumn } from './column-names.ts'
import type { StagedTable } from './staged-table.ts'
import { isBeyondAntimeridian } from './table-plan.ts'

/** Returns the table, whose column takes several parts where single ones were cut, and a warning if rows were moved. */
export async function wrapLongitudes(staged: StagedTable): Promise<{ staged: StagedTable; warnings: Warning[] }> {
  const { plan, target, name } = staged
  const unchanged = { staged, warnings: [] }
  if (!plan.geometry || !plan.layer.extent || !isBeyondAntimeridian(plan.layer.extent)) return unchanged
  const { source } = plan.geometry.reprojection
  if (!(await isGeographic(staged, source))) return unchanged
  const [table, column] = [ident(target.schema, name), ident(geometryColumn)]
  const [row] = await target.db.query<{ moved: number }>(sql`
    SELECT count(*)::int4 AS moved FROM ${table} WHERE ST_XMin(${column}) < -180 OR ST_XMax(${column}) > 180`)
  if (!row?.moved) return unchanged
  const isSingle = /^(LineString|Polygon)Z?$/.test(plan.geometry.type)
  const type = isSingle ? `Multi${plan.geometry.type}` : plan.geometry.type
  const moved = wrapColumnSql(column, turnDegrees)
  const wrapped = isSingle ? sql`ST_Multi(${moved})` : moved
  await target.db.query(sql`
    ALTER TABLE ${table} ALTER COLUMN ${column} TYPE ${raw(`geometry(${type},${source})`)} USING ${wrapped}`)
  const rows = row.moved === 1 ? 'One row has' : `${row.moved} rows have`
  return {
    staged: { ...staged, doubtful: undefined, plan: { ...plan, geometry: { ...plan.geometry, type } } },
    warnings: [{ ...wrapWarning(rows), count: row.moved }],
  }
}

export const wrapWarning = (rows: string): Warning => ({
  code: 'wrapped_longitudes',
  message: `${rows} longitudes beyond 180 degrees. They are moved by 360 into -180 … 180; lines and areas are cut at the antimeridian.`,
})

async function isGeographic({ target }: StagedTable, srid: number): Promise<boolean> {
  const [row] = await target.db.query<{ found: boolean }>(sql`
    SELECT EXISTS (SELECT FROM spatial_ref_sys WHERE srid = ${srid}::int4 AND srtext ~ '^(GEOGCS|GEOGCRS)') AS found`)
  return row?.found ?? false
}
