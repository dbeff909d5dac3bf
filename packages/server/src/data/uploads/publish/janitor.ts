// Garbage collection after crashed servers.
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isUuid } from '../../../api/access/credentials.ts'
import type { Db } from '../../../kernel/db/db.ts'
import { ident, sql } from '../../../kernel/db/sql.ts'
import type { FileStore, ListedFile } from '../../../kernel/storage/file-store.ts'
import { overviewDirectory } from '../../tiles/overviews/files/file-overviews.ts'
import { deleteStaleSrids } from '../load/temporary-srid.ts'

/** A younger file may still be arriving and has no record yet. */
const incomingMs = 600_000

type Parts = { readonly db: Db; readonly directory: string; readonly files: FileStore }

/** Removes the leftovers of ended servers: files, tables and parts of overviews. */
export async function tidy(parts: Parts): Promise<void> {
  await tidyDirectories(parts)
  await tidyTables(parts.db)
  await deleteStaleSrids(parts.db)
  await tidyUploads(parts)
  await tidyArchives(parts)
  await tidyOverviews(parts)
  await parts.files.tidy()
}

const entries = (directory: string): Promise<string[]> => readdir(directory).catch(() => [])

/** Removes the folders of uploads on this machine that are not needed any more. */
export async function tidyDirectories({ directory, db }: Pick<Parts, 'directory' | 'db'>): Promise<void> {
  const root = join(directory, 'uploads')
  const ids = (await entries(root)).filter(isUuid)
  const wanted = await wantedOf(db, ids)
  for (const id of ids.filter((one) => !wanted.get(one))) {
    const path = join(root, id)
    // With the embedded database no other server can be receiving a file at start.
    const isOld =
      wanted.has(id) || (await isUntouched(path, db.kind === 'embedded' ? startedAt : Date.now() - incomingMs))
    if (isOld) await rm(path, { recursive: true, force: true })
  }
}

/**
 * By id, of those that have a record: whether the file is still needed. A file that arrives is, however long ago its last
 * byte was written: S3 dates a multipart upload by its beginning.
 */
async function wantedOf(db: Db, ids: readonly string[]): Promise<Map<string, boolean>> {
  if (ids.length === 0) return new Map()
  const records = await db.query<{ id: string; isWanted: boolean }>(sql`
    SELECT id, status IN ('pending', 'processing') AS "isWanted" FROM svc.uploads WHERE id = ANY(${ids}::uuid[])
    UNION ALL SELECT id, true FROM svc.arriving_uploads WHERE id = ANY(${ids}::uuid[])
      AND heard_at > clock_timestamp() - ${incomingMs} * interval '1 millisecond'`)
  return new Map(records.map(({ id, isWanted }) => [id, isWanted]))
}

/** Removes files of uploads from the storage that are not needed any more. */
async function tidyUploads({ db, files }: Parts): Promise<void> {
  for await (const batch of batchesOf(files.list('uploads/'))) {
    const wanted = await wantedOf(db, batch.map(ownerOf).filter(isUuid))
    for (const file of batch) {
      const id = ownerOf(file)
      const isOld = wanted.has(id) || file.modifiedAt < Date.now() - incomingMs
      if (isUuid(id) && !wanted.get(id) && isOld) await files.remove(file.key)
    }
  }
}

/** Removes overviews of files whose datasets are gone, or were built again, in the storage and on this machine. */
async function tidyOverviews({ db, files, directory }: Parts): Promise<void> {
  const isNeeded = await overviewsInUse(db)
  for await (const file of files.list('overviews/')) {
    const [, owner = '', name = ''] = file.key.split('/')
    const isOld = file.modifiedAt < Date.now() - incomingMs
    if (isOld && !isNeeded(owner, name)) await files.remove(file.key)
  }
  const root = overviewDirectory(directory)
  for (const id of await entries(root)) if (!isNeeded(id)) await rm(join(root, id), { recursive: true, force: true })
}

async function overviewsInUse(db: Db): Promise<(datasetId: string, name?: string) => boolean> {
  const rows = await db.query<{ id: string; build: string }>(
    sql`SELECT dataset_id AS id, files->>'build' AS build FROM svc.overviews WHERE files IS NOT NULL`,
  )
  const builds = new Map(rows.map(({ id, build }) => [id, build]))
  return (id, name) => builds.has(id) && (name === undefined || name.startsWith(builds.get(id) ?? ''))
}

const ownerOf = ({ key }: ListedFile): string => key.split('/')[1] ?? ''

const batchSize = 1_000

async function* batchesOf<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < batchSize) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
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
async function tidyArchives({ db, files }: Parts): Promise<void> {
  for await (const batch of batchesOf(files.list('files/'))) {
    const archives = batch.flatMap(archiveOf)
    const orphans = await db.query<{ key: string }>(sql`
      SELECT a.key FROM unnest(${archives.map(({ key }) => key)}::text[], ${archives.map(({ applicationId }) => applicationId)}::uuid[],
        ${archives.map(({ source }) => source)}::text[], ${archives.map(({ uploadId }) => uploadId)}::uuid[])
        AS a (key, application_id, source, upload_id)
      WHERE NOT EXISTS (SELECT FROM svc.tilesources t
          WHERE t.application_id = a.application_id AND lower(t.source) = a.source)
        AND NOT EXISTS (SELECT FROM svc.uploads u WHERE u.id = a.upload_id AND u.status IN ('pending', 'processing'))`)
    for (const { key } of orphans) await files.remove(key)
  }
}

/** An archive that an upload has made; files that others put there have other names. */
function archiveOf({ key }: ListedFile) {
  const [, applicationId = '', name = ''] = key.split('/')
  const [, uploadId = '', kind] = /^([0-9a-f-]{36})\.(mbtiles|pmtiles)$/.exec(name) ?? []
  return isUuid(applicationId) && isUuid(uploadId)
    ? [{ key, applicationId, uploadId, source: `${kind}://${name}` }]
    : []
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
