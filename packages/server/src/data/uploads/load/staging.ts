// Staging tables: load, transform, repair and index rows before they are published.

import { cancelStatements } from '../../../kernel/db/cancel-statements.ts'
import { codeOf } from '../../../kernel/db/database-error.ts'
import type { Queryable, TupleBytes } from '../../../kernel/db/db.ts'
import { cutIdentifier, maxIdentifierBytes } from '../../../kernel/db/identifier.ts'
import { ident, joinSql, quoted, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { Extent } from '../../../query/geometry/geometry-type.ts'
import type { TableName } from '../../databases/postgres/introspect.ts'
import type { ReaderRows } from '../reader-process/reader-process.ts'
import { storageExceeded, UploadFault } from '../record/upload-fault.ts'
import { geometryColumn, keyColumn } from './column-names.ts'
import { isIndexedFirst, makeIndexes } from './index-staging.ts'
import { demandKnownSrids } from './known-srids.ts'
import { demandReplaceable } from './replaced-table.ts'
import { type StagedTable, tableOf } from './staged-table.ts'
import { isBeyondAntimeridian } from './table-plan.ts'
import type { Target } from './target.ts'
import { withTemporarySrid } from './temporary-srid.ts'
import { transformInBatches } from './transform-batches.ts'
import { transformFault } from './transform-fault.ts'

const prefixOf = (uploadId: string): string => `svc_up_${uploadId.replaceAll('-', '')}_`

/** The name contains the attempt, so that two workers that both believe they hold the lease never collide. */
export const stagingName = (uploadId: string, attempt: number, layer: number): string =>
  `${prefixOf(uploadId)}${attempt}_${layer}`

export async function createStaging(staged: StagedTable): Promise<void> {
  const { plan } = staged
  const columns = plan.columns.map(
    ({ name, type }) => sql`${ident(name)} ${raw(name === keyColumn ? `${type} NOT NULL` : type)}`,
  )
  if (plan.geometry) {
    const { source, target } = plan.geometry.reprojection
    await demandKnownSrids(staged.target.db, [source, target], { layer: plan.layer.name })
  }
  await staged.target.db.query(sql`CREATE TABLE ${tableOf(staged)} (${joinSql(columns, ', ')})`)
  for (const { name, original } of plan.columns) {
    if (original !== undefined) await comment(staged, name, original)
  }
  if (isIndexedFirst(staged)) await makeIndexes(staged)
}

async function comment(staged: StagedTable, column: string, text: string): Promise<void> {
  await staged.target.db.query(sql`COMMENT ON COLUMN ${tableOf(staged)}.${ident(column)} IS ${literal(text)}`)
}

/** Copies the rows; returns the table with what is known of them. */
export async function copyRows(staged: StagedTable, { rows, sent }: ReaderRows): Promise<StagedTable> {
  const { db, room = Number.POSITIVE_INFINITY } = staged.target
  const copied = Number.isFinite(room) ? bounded(rows, room) : rows
  await db.copyInBinary(sql`COPY ${tableOf(staged)} FROM STDIN (FORMAT binary)`, copied)
  return { ...staged, doubtful: (await sent).doubtful }
}

/**
 * Enforces the quota roughly: rows take about as many bytes in a table as in transfer. The exact size is checked when
 * publishing.
 */
async function* bounded(rows: ReaderRows['rows'], room: number): AsyncGenerator<TupleBytes> {
  let bytes = 0
  for await (const piece of rows) {
    bytes += piece.bytes.length
    if (bytes > room) throw storageExceeded(room)
    yield piece
  }
}

/** Transforms the coordinates to the target reference system. */
export async function transform(staged: StagedTable): Promise<void> {
  const { geometry, layer } = staged.plan
  if (!geometry || geometry.reprojection.source === geometry.reprojection.target) return
  const { text, target } = geometry.reprojection
  const column = ident(geometryColumn)
  const type = raw(`geometry(${geometry.type},${target})`)
  const set = async (value: Sql): Promise<void> => {
    await staged.target.db.query(sql`ALTER TABLE ${tableOf(staged)} ALTER COLUMN ${column} TYPE ${type} USING ${value}`)
  }
  const moved = text === undefined ? set(transformed(column, target)) : moveByText(staged, text, target, set)
  await moved.catch((error) => {
    throw transformFault(error, target, { layer: layer.name })
  })
}

const transformed = (value: Sql, target: number): Sql => sql`ST_Transform(${value}, ${raw(String(target))})`

/**
 * PostGIS parses a reference system's text again for each geometry, which takes longer than everything else. So the
 * text gets a temporary SRID; where that is not allowed, many geometries are transformed at once.
 */
async function moveByText(staged: StagedTable, text: string, target: number, set: (value: Sql) => Promise<void>) {
  const column = ident(geometryColumn)
  const isMoved = await withTemporarySrid(staged.target.db, text, async (srid) => {
    const numbered = sql`ST_SetSRID(${column}, ${raw(String(srid))})`
    // A session caches SRIDs: this one may have had another meaning in it.
    const [row] = await staged.target.db.query<{ same: boolean }>(sql`
      SELECT ST_Distance(ST_Transform(ST_SetSRID(place, ${srid}::int4), ${target}::int4),
                         ST_Transform(place, ${text}::text, ${target}::int4)) < 1e-6 AS same
      FROM (SELECT ST_GeometryN(ST_Points(${column}), 1) AS place FROM ${tableOf(staged)}
            WHERE NOT ST_IsEmpty(${column}) LIMIT 1) AS first`)
    if (!row?.same) return false
    await set(transformed(numbered, target))
    return true
  })
  if (isMoved) return
  await transformInBatches(staged.target.db, { table: tableOf(staged), column, text, target })
  await set(sql`ST_SetSRID(${column}, ${raw(String(target))})`)
}

/** DDL takes no parameters, so a text is inlined as a quoted literal. */
const literal = (text: string): Sql =>
  raw(`E'${text.replaceAll('\0', '').toWellFormed().replaceAll('\\', '\\\\').replaceAll("'", "''")}'`)

/** In degrees; undefined if there are no geometries. */
export async function extentOf(staged: StagedTable): Promise<Extent | undefined> {
  const { geometry, layer } = staged.plan
  if (!geometry) return undefined
  const { source, target } = geometry.reprojection
  const isKept = source === target && target === 4326 && layer.extent && !isBeyondAntimeridian(layer.extent)
  if (staged.box && target === 4326) return staged.box
  if (isKept) return layer.extent
  const srid = raw(String(target))
  const box = staged.box
    ? sql`SELECT ST_MakeEnvelope(${joinSql(
        staged.box.map((side) => sql`${side}::float8`),
        ', ',
      )}, ${srid}) AS box`
    : sql`SELECT ST_SetSRID(ST_Extent(${ident(geometryColumn)})::geometry, ${srid}) AS box FROM ${tableOf(staged)}`
  const dense = sql`ST_Segmentize(box, greatest(ST_XMax(box) - ST_XMin(box), ST_YMax(box) - ST_YMin(box)) / 20 + 1e-9)`
  const degrees = target === 4326 ? raw('box') : sql`ST_Transform(${dense}, 4326)`
  const [row] = await staged.target.db.query<{ w: number | null; s: number; e: number; n: number }>(sql`
    SELECT ST_XMin(box) AS w, ST_YMin(box) AS s, ST_XMax(box) AS e, ST_YMax(box) AS n
    FROM (SELECT ${degrees} AS box FROM (${box}) AS q) AS q`)
  return row && row.w !== null ? [row.w, row.s, row.e, row.n] : undefined
}

/** Drops the staging tables of an upload, of all attempts. */
export async function dropStaging(target: Target, uploadId: string): Promise<void> {
  const tables = await target.db.query<{ name: string }>(sql`
    SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ${target.schema} AND c.relkind = 'r' AND starts_with(c.relname, ${prefixOf(uploadId)})`)
  for (const { name } of tables) await target.db.query(sql`DROP TABLE IF EXISTS ${ident(target.schema, name)}`)
}

/** Cancels the statements on an upload's tables. */
export const cancelStaging = ({ db }: Target, uploadId: string): Promise<void> =>
  cancelStatements(db, prefixOf(uploadId))

/** Renames the table to its final name and replaces the old one. */
export async function putInPlace(
  tx: Queryable,
  { target, name }: StagedTable,
  tableName: TableName,
  replaces: boolean,
) {
  if (replaces) await dropReplaced(tx, target, tableName)
  if (tableName.schema !== target.schema) {
    await tx.query(sql`ALTER TABLE ${ident(target.schema, name)} SET SCHEMA ${ident(tableName.schema)}`)
  }
  await tx.query(sql`ALTER TABLE ${ident(tableName.schema, name)} RENAME TO ${ident(tableName.name)}`)
  for (const suffix of ['_pkey', '_geom']) {
    const index = freeIndexName(tableName.name, suffix)
    const [free] = await tx.query<{ free: boolean }>(sql`
      SELECT to_regclass(${`${quoted(tableName.schema)}.${quoted(index)}`}) IS NULL
        AND to_regclass(${`${quoted(tableName.schema)}.${quoted(name + suffix)}`}) IS NOT NULL AS free`)
    if (free?.free) {
      await tx.query(sql`ALTER INDEX ${ident(tableName.schema, name + suffix)} RENAME TO ${ident(index)}`)
    }
  }
}

/** Of a long name the end is cut, not the suffix, which tells the two indexes apart. */
const freeIndexName = (table: string, suffix: string): string =>
  `${cutIdentifier(table, maxIdentifierBytes - suffix.length)}${suffix}`

async function dropReplaced(tx: Queryable, target: Target, tableName: TableName): Promise<void> {
  await demandReplaceable(tx, target.isPlatform ? target.schema : undefined, tableName)
  await tx.query(sql`DROP TABLE IF EXISTS ${ident(tableName.schema, tableName.name)}`).catch((error) => {
    if (codeOf(error) !== '2BP01') throw error
    const detail = 'detail' in error && typeof error.detail === 'string' ? ` (${error.detail.split('\n')[0]})` : ''
    throw new UploadFault(
      'dataset_in_use',
      `Other objects of the database depend on the table of the dataset, so it cannot be replaced${detail}.`,
      {},
      error,
    )
  })
}
