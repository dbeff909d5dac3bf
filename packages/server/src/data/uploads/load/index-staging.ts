/**
 * Key, index and statistics of a staging table. On PostgreSQL they are made from all rows at once, which takes a quarter of the time.
 * The embedded database has one session, which an index of a million rows would keep for eight seconds; there the rows are copied into
 * a table that is indexed already, in pieces that let others through.
 */
import { forPages, inPages, pagesIn } from '../../../kernel/db/embedded/page-pieces.ts'
import { ident, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { Warning } from '../readers/reader.ts'
import { adoptKey } from './adopt-key.ts'
import { geometryColumn, keyColumn } from './column-names.ts'
import { type StagedTable, tableOf } from './staged-table.ts'

/** Half of what a reader may be kept waiting, as of a file that is loaded. */
export const pieceMs = 25

/** Not where the key is yet to be found among the columns, or where every geometry is written anew by a transformation. */
export function isIndexedFirst({ target, plan: { keyCandidate, geometry } }: StagedTable): boolean {
  const isMoved = geometry !== undefined && geometry.reprojection.source !== geometry.reprojection.target
  return target.db.kind === 'embedded' && keyCandidate === undefined && !isMoved
}

const keyName = ({ name }: StagedTable): Sql => ident(`${name}_pkey`)

const keyIndex = (staged: StagedTable): Sql =>
  sql`CREATE UNIQUE INDEX ${keyName(staged)} ON ${tableOf(staged)} (${ident(keyColumn)})`

const spatialIndex = (staged: StagedTable): Sql =>
  sql`CREATE INDEX ${ident(`${staged.name}_geom`)} ON ${tableOf(staged)} USING gist (${ident(geometryColumn)})`

/** While the table is empty. */
export async function makeIndexes(staged: StagedTable): Promise<void> {
  const { target, plan } = staged
  await target.db.query(keyIndex(staged))
  if (plan.geometry) await target.db.query(spatialIndex(staged))
}

/** Makes what is missing yet. */
export async function indexTable(staged: StagedTable): Promise<Warning[]> {
  const { db } = staged.target
  const count = db.kind === 'embedded' ? await describeIndexed(staged) : await indexLoaded(staged)
  const key = keyName(staged)
  await db.query(sql`ALTER TABLE ${tableOf(staged)} ADD CONSTRAINT ${key} PRIMARY KEY USING INDEX ${key}`)
  return invalidAreas(count)
}

const invalidMessage = 'Some areas are not valid (they cross themselves, for instance); they were loaded as they are.'

export const invalidAreas = (count: number): Warning[] =>
  count === 0 ? [] : [{ code: 'invalid_geometry', message: invalidMessage, count }]

/** A twentieth of PostgreSQL's own sample, which takes some 50 ms of CPU time; a fifth took 200 of a million points. */
const statisticsTarget = 5

async function describeIndexed(staged: StagedTable): Promise<number> {
  await staged.target.db.transaction(async (tx) => {
    await tx.script(`SET LOCAL default_statistics_target = ${statisticsTarget}`)
    await tx.query(sql`ANALYZE ${tableOf(staged)}`)
  })
  return staged.plan.geometry?.isAreal ? await countInvalid(staged) : 0
}

/** With several connections two indexes are made in parallel, because the spatial one takes as long as the rest. */
async function indexLoaded(staged: StagedTable): Promise<number> {
  const { target, plan } = staged
  const table = tableOf(staged)
  const make = (index: Sql): Promise<void> =>
    target.db.transaction(async (tx) => {
      await tx.script(`SET LOCAL maintenance_work_mem = '256MB'`)
      await tx.query(index)
    })
  // Invalid areas are found by the numbers of their rows, which a key of the file replaces.
  const counted = plan.keyCandidate !== undefined && plan.geometry?.isAreal ? await countInvalid(staged) : undefined
  const { keyCandidate } = plan
  const isAdopted = keyCandidate !== undefined && (await adoptKey(target.db, table, keyName(staged), keyCandidate))
  // A unique index first: adding the key directly would have to wait for the other index.
  const unique = isAdopted ? Promise.resolve() : make(keyIndex(staged))
  const indexed = Promise.all([unique, plan.geometry && make(spatialIndex(staged))])
  const [count] = await Promise.all([
    unique.then(() => counted ?? (plan.geometry?.isAreal ? countInvalid(staged) : 0)),
    indexed.then(() => target.db.query(sql`ANALYZE ${table}`)),
  ])
  return count
}

async function countInvalid(staged: StagedTable): Promise<number> {
  const { target, doubtful, name } = staged
  if (doubtful?.length === 0) return 0
  const among = doubtful ? sql`${ident(keyColumn)} = ANY(${doubtful}::int8[])` : raw('TRUE')
  if (target.db.kind !== 'embedded') return countInvalidOf(staged, among)
  let count = 0
  const pages = await pagesIn(target.db, { schema: target.schema, name })
  await forPages({ pages, pieceMs }, async (begin, end) => {
    count += await countInvalidOf(staged, sql`${inPages(raw('q'), begin, end)} AND ${among}`)
  })
  return count
}

async function countInvalidOf(staged: StagedTable, among: Sql): Promise<number> {
  const [row] = await staged.target.db.query<{ count: number }>(sql`
    SELECT count(*)::int4 AS count FROM ${tableOf(staged)} AS q
    WHERE ${among} AND ST_IsValidReason(${ident(geometryColumn)}) <> 'Valid Geometry'`)
  return row?.count ?? 0
}
