import type { Db, Queryable } from '../../db/db.ts'
import { ident, type Sql, sql } from '../../db/sql.ts'
import type { Buildable } from './build-overview.ts'
import { overviewTable } from './overview.ts'

const inUse = /^\d+$/

/** A table that is made, or being made, by this build. */
const isOwn = ({ build }: Pick<Buildable, 'build'>, part: string): boolean => part.startsWith(`${build}_`)

/** The zoom of a table of this build that is complete. */
const readyZoom = ({ build }: Buildable, part: string): string | undefined =>
  isOwn({ build }, part) ? /^new_(\d+)$/.exec(part.slice(build.length + 1))?.[1] : undefined

/** The last part of the name of each table that was made for the overview. */
async function partsOf(tx: Queryable, { dataset, table }: Buildable): Promise<string[]> {
  const prefix = overviewTable(dataset.id, '')
  const tables = await tx.query<{ name: string }>(sql`
    SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ${table.schema} AND c.relkind = 'r' AND starts_with(c.relname, ${prefix})`)
  return tables.map(({ name }) => name.slice(prefix.length))
}

async function dropParts(tx: Queryable, buildable: Buildable, isMeant: (part: string) => boolean): Promise<void> {
  const { dataset, table } = buildable
  for (const part of (await partsOf(tx, buildable)).filter(isMeant)) {
    await tx.query(sql`DROP TABLE IF EXISTS ${ident(table.schema, overviewTable(dataset.id, part))}`)
  }
}

/** Takes away what this build began, also in an earlier life. */
export async function dropUnfinished(db: Db, buildable: Buildable): Promise<void> {
  await db.transaction((tx) => dropParts(tx, buildable, (part) => isOwn(buildable, part)))
}

/**
 * The new tables take the places of the old ones, all at once, together with the record that says so. `oid` is that of the
 * table which they were made of: when another has taken its place meanwhile, they hold values that are gone.
 */
export async function swapOverview(db: Db, buildable: Buildable, record: Sql, oid: string): Promise<void> {
  const { dataset, table } = buildable
  await db.transaction(async (tx) => {
    await tx.script(`SET LOCAL lock_timeout = '10s'`)
    // A dataset that is gone wants no tables; one that is about to go waits until these can go with it.
    const [found] = await tx.query(sql`SELECT id FROM svc.datasets WHERE id = ${dataset.id}::uuid FOR SHARE`)
    const [same] = await tx.query(sql`
      SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ${table.schema} AND c.relname = ${table.name} AND c.oid::text = ${oid}`)
    if (found && !same) return dropParts(tx, buildable, (part) => isOwn(buildable, part))
    await putOverview(tx, buildable, found !== undefined)
    if (found) await tx.query(record)
  })
}

/** The new tables take the places of the old ones; where the dataset is gone, all of them go. Other builds are left alone. */
export async function putOverview(tx: Queryable, buildable: Buildable, isWanted = true): Promise<void> {
  const { dataset, table } = buildable
  const parts = await partsOf(tx, buildable)
  const isReady = (part: string): boolean => isWanted && readyZoom(buildable, part) !== undefined
  await dropParts(tx, buildable, (part) => !isReady(part) && (inUse.test(part) || isOwn(buildable, part)))
  for (const part of parts.filter(isReady)) {
    const place = overviewTable(dataset.id, readyZoom(buildable, part) ?? '')
    await tx.query(sql`ALTER TABLE ${ident(table.schema, overviewTable(dataset.id, part))} RENAME TO ${ident(place)}`)
    await tx.query(sql`GRANT SELECT ON ${ident(table.schema, place)} TO ${ident(table.schema)}`)
  }
}
