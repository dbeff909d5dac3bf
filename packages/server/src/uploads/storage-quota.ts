// Storage quotas of applications.
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Queryable } from '../db/db.ts'
import { sql } from '../db/sql.ts'

/** How much an application may still store. */
export type StorageQuota = {
  readonly bytes: number
  /**
   * The remaining bytes, negative if over quota. Counted are the tables of the application's schema with indexes and
   * overviews, its tile archives, and files that wait or arrive, except those of the named upload.
   */
  left(db: Queryable, applicationId: string, uploadId?: string): Promise<number>
}

const noUpload = '00000000-0000-0000-0000-000000000000'

/** An arriving file that its replica has not renewed for this long is considered abandoned. */
export const arrivalSeconds = 60

/** Without a quota nothing is measured; with one, a few times per upload. */
export function createStorageQuota(directory: string, quota: number | undefined): StorageQuota {
  const bytes = quota ?? Number.POSITIVE_INFINITY
  return {
    bytes,
    async left(db, applicationId, uploadId = noUpload) {
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

export async function bytesIn(folder: string): Promise<number> {
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
