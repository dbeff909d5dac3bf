// Garbage collection after crashed servers.
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isUuid } from '../access/credentials.ts'
import type { Db } from '../db/db.ts'
import { ident, sql } from '../db/sql.ts'
import { deleteStaleSrids } from './temporary-srid.ts'

/** A younger file may still be arriving and has no record yet. */
const incomingMs = 600_000

/** Removes the leftovers of ended servers: files, tables and parts of overviews. */
export async function tidy({ db, directory }: { db: Db; directory: string }): Promise<void> {
  await tidyDirectories(directory, db)
  await tidyArchives(directory, db)
  await tidyTables(db)
  await deleteStaleSrids(db)
}

const entries = (directory: string): Promise<string[]> => readdir(directory).catch(() => [])

async function tidyDirectories(directory: string, db: Db): Promise<void> {
  const root = join(directory, 'uploads')
  const ids = (await entries(root)).filter(isUuid)
  const records = await db.query<{ id: string; isWanted: boolean }>(sql`
    SELECT id, status IN ('pending', 'processing') AS "isWanted" FROM svc.uploads WHERE id = ANY(${ids}::uuid[])`)
  const known = new Map(records.map(({ id, isWanted }) => [id, isWanted]))
  for (const id of ids.filter((one) => !known.get(one))) {
    const path = join(root, id)
    // With the embedded database no other server can be receiving a file at start.
    const isOld =
      known.has(id) || (await isUntouched(path, db.kind === 'embedded' ? startedAt : Date.now() - incomingMs))
    if (isOld) await rm(path, { recursive: true, force: true })
  }
}

const startedAt = Date.now() - process.uptime() * 1000

async function isUntouched(path: string, since: number): Promise<boolean> {
  const newest = await Promise.all(
    [path, join(path, 'source')].map((one) =>
      stat(one).then(
        (it) => it.mtimeMs,
        () => 0,
      ),
    ),
  )
  return Math.max(...newest) < since
}

/**
 * Removes tile archives that no tile source names: their upload never ended, or the source was deleted while this
 * server was down.
 */
async function tidyArchives(directory: string, db: Db): Promise<void> {
  for (const applicationId of (await entries(join(directory, 'files'))).filter(isUuid)) {
    const folder = join(directory, 'files', applicationId)
    for (const name of await entries(folder)) {
      const [, id = '', kind] = /^([0-9a-f-]{36})\.(mbtiles|pmtiles)$/.exec(name) ?? []
      if (!isUuid(id)) continue
      const [found] = await db.query(sql`
        SELECT 1 AS found FROM svc.tilesources
        WHERE application_id = ${applicationId}::uuid AND lower(source) = ${`${kind}://${name}`}
        UNION ALL SELECT 1 FROM svc.uploads WHERE id = ${id}::uuid AND status IN ('pending', 'processing')`)
      if (!found) await rm(join(folder, name), { force: true })
    }
  }
}

async function tidyTables(db: Db): Promise<void> {
  const left = await db.query<{ schema: string; name: string }>(sql`
    SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname ~ '^app_[0-9a-f]{32}$' AND c.relkind = 'r' AND (
      (c.relname ~ '^svc_up_[0-9a-f]{32}_' AND NOT EXISTS (
        SELECT FROM svc.uploads u WHERE u.status = 'processing' AND u.id = substr(c.relname, 8, 32)::uuid))
      -- Uploads built overviews themselves once, in parts with a u.
      OR (c.relname ~ '^svc_ov_[0-9a-f]{32}_' AND (c.relname ~ '^svc_ov_[0-9a-f]{32}_u'
        OR NOT EXISTS (SELECT FROM svc.datasets d WHERE d.id = substr(c.relname, 8, 32)::uuid)
        OR (c.relname ~ '^svc_ov_[0-9a-f]{32}_job_'
          AND NOT EXISTS (SELECT FROM svc.jobs j WHERE j.key = substr(c.relname, 8, 32)::uuid::text)))))`)
  for (const { schema, name } of left) await db.query(sql`DROP TABLE IF EXISTS ${ident(schema, name)}`)
}
