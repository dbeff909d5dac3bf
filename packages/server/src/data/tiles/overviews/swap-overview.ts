// Installs a staged overview in one transaction.
import type { Db, Queryable } from '../../../kernel/db/db.ts'
import { ident, type Sql, sql } from '../../../kernel/db/sql.ts'
import { type Buildable, type Builder, demandJob } from './build-overview.ts'
import { beingBuilt, type OverviewDataset, overviewTable, type TenantTable } from './overview.ts'

const inUse = /^\d+$/

/** The zoom of a finished table of a build. */
const readyZoom = (part: string): string | undefined => /^job_new_(\d+)$/.exec(part)?.[1]

/** Where the tables of an overview are. */
export type OverviewTarget = {
  readonly dataset: Pick<OverviewDataset, 'id'>
  readonly table: Pick<TenantTable, 'schema'>
}

/** The name suffixes of all tables of the overview. */
async function partsOf(tx: Queryable, { dataset, table }: OverviewTarget): Promise<string[]> {
  const prefix = overviewTable(dataset.id, '')
  const tables = await tx.query<{ name: string }>(sql`
    SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ${table.schema} AND c.relkind = 'r' AND starts_with(c.relname, ${prefix})`)
  return tables.map(({ name }) => name.slice(prefix.length))
}

export async function dropParts(
  tx: Queryable,
  place: OverviewTarget,
  isMeant: (part: string) => boolean = () => true,
): Promise<void> {
  const { dataset, table } = place
  for (const part of (await partsOf(tx, place)).filter(isMeant)) {
    await tx.query(sql`DROP TABLE IF EXISTS ${ident(table.schema, overviewTable(dataset.id, part))}`)
  }
}

const isUnfinished = (part: string): boolean => part.startsWith(beingBuilt)

/** Drops the leftovers of a build, also those of an attempt before a crash. */
export async function dropUnfinished(tx: Queryable, place: OverviewTarget): Promise<void> {
  await dropParts(tx, place, isUnfinished)
}

type FinishedBuild = Pick<Builder, 'isHeld'> & {
  readonly record: Sql
  /** Identifies the base table: if it has been replaced meanwhile, the new tables are outdated. */
  readonly oid: string
}

/** Replaces the old tables and the record in one transaction. */
export async function swapOverview(
  db: Db,
  buildable: Buildable,
  { isHeld, record, oid }: FinishedBuild,
): Promise<void> {
  const { dataset, table } = buildable
  await db.transaction(async (tx) => {
    await tx.script(`SET LOCAL lock_timeout = '10s'`)
    // FOR SHARE: a dataset that is deleted already gets no tables; a later deletion waits and then drops these too.
    const [row] = await tx.query(sql`SELECT id FROM svc.datasets WHERE id = ${dataset.id}::uuid FOR SHARE`)
    // After that lock, because the change that it waited for may have cancelled the job.
    await demandJob(isHeld, tx)
    const [same] = await tx.query(sql`
      SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ${table.schema} AND c.relname = ${table.name} AND c.oid::text = ${oid}`)
    if (row && !same) return dropParts(tx, buildable, isUnfinished)
    await putOverview(tx, buildable, row !== undefined)
    if (row) await tx.query(record)
  })
}

/** Renames the new tables to their final names; if the dataset is gone, drops them all. */
async function putOverview(tx: Queryable, buildable: Buildable, isWanted: boolean): Promise<void> {
  const { dataset, table } = buildable
  const parts = await partsOf(tx, buildable)
  const isReady = (part: string): boolean => isWanted && readyZoom(part) !== undefined
  await dropParts(tx, buildable, (part) => !isReady(part) && (inUse.test(part) || isUnfinished(part)))
  for (const part of parts.filter(isReady)) {
    const place = overviewTable(dataset.id, readyZoom(part) ?? '')
    await tx.query(sql`ALTER TABLE ${ident(table.schema, overviewTable(dataset.id, part))} RENAME TO ${ident(place)}`)
    await tx.query(sql`GRANT SELECT ON ${ident(table.schema, place)} TO ${ident(table.schema)}`)
  }
}
