import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Queryable } from '../db/db.ts'
import { sql } from '../db/sql.ts'

/** How much an application may still store. */
export type StorageQuota = {
  readonly bytes: number
  /**
   * Bytes that are left, below 0 when there is too much already. Counted are the tables of the application's schema with their
   * indexes and overviews, its archives of tiles, and files that wait or arrive, without those of the upload named.
   */
  left(db: Queryable, applicationId: string, uploadId: string): Promise<number>
}

/** An arriving file that its replica has not renewed for so long is taken for gone. */
export const arrivalSeconds = 60

/** Without a quota nothing is measured; with one, it is measured a few times for each upload. */
export function createStorageQuota(directory: string, quota: number | undefined): StorageQuota {
  const bytes = quota ?? Number.POSITIVE_INFINITY
  return {
    bytes,
    async left(db, applicationId, uploadId) {
      if (quota === undefined) return bytes
      const [row] = await db.query<{ used: number }>(sql`
        SELECT (
          (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
           WHERE n.nspname = svc.tenant_name(${applicationId}::uuid) AND c.relkind IN ('r', 'm'))
          + (SELECT coalesce(sum(size), 0) FROM svc.uploads WHERE application_id = ${applicationId}::uuid
             AND status IN ('pending', 'processing') AND id <> ${uploadId}::uuid)
          + (SELECT coalesce(sum(bytes), 0) FROM svc.arriving_uploads WHERE application_id = ${applicationId}::uuid
             AND id <> ${uploadId}::uuid AND heard_at > clock_timestamp() - ${arrivalSeconds} * interval '1 second')
        )::float8 AS used`)
      return bytes - (row?.used ?? 0) - (await bytesIn(join(directory, 'files', applicationId)))
    },
  }
}

async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => [])
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
