// Storage quotas of applications.
import type { Queryable } from '../../../kernel/db/db.ts'
import { sql } from '../../../kernel/db/sql.ts'
import { type FileStore, filesPrefix } from '../../../kernel/storage/file-store.ts'

/** How much an application may still store. */
export type StorageQuota = {
  /** The bytes that the application may store; infinite without a quota. */
  limitOf(db: Queryable, applicationId: string): Promise<number>
  /** Measures its files: before a transaction, which must not wait for a storage that is slow. */
  measure(db: Queryable, applicationId: string): Promise<MeasuredQuota>
}

/** The quota of an application whose files have been measured. */
export type MeasuredQuota = {
  readonly bytes: number
  /**
   * The remaining bytes, negative if over quota. Counted are the tables of the application's schema with indexes and
   * overviews, its tile archives, and files that wait or arrive, except those of the named upload.
   */
  left(db: Queryable, uploadId?: string): Promise<number>
}

const noUpload = '00000000-0000-0000-0000-000000000000'

/** An arriving file that its replica has not renewed for this long is considered abandoned. */
export const arrivalSeconds = 60

/** `quota` is for all applications; one may have its own. Without any nothing is measured; with one, a few times per upload. */
export function createStorageQuota(files: FileStore, quota: number | undefined): StorageQuota {
  const limitOf: StorageQuota['limitOf'] = async (db, applicationId) => {
    const [row] = await db.query<{ bytes: number | null }>(
      sql`SELECT (limits->>'storageBytes')::float8 AS bytes FROM svc.applications WHERE id = ${applicationId}::uuid`,
    )
    return row?.bytes ?? quota ?? Number.POSITIVE_INFINITY
  }
  return {
    limitOf,
    async measure(db, applicationId) {
      const bytes = await limitOf(db, applicationId)
      if (bytes === Number.POSITIVE_INFINITY) return { bytes, left: async () => bytes }
      const inFiles = await bytesIn(files, applicationId)
      const left: MeasuredQuota['left'] = async (tx, uploadId = noUpload) =>
        bytes - inFiles - (await bytesInTables(tx, applicationId, uploadId))
      return { bytes, left }
    },
  }
}

async function bytesInTables(db: Queryable, applicationId: string, uploadId: string): Promise<number> {
  const [row] = await db.query<{ used: number }>(sql`
    SELECT (
      (SELECT coalesce(sum(svc.relation_bytes(c.oid, true)), 0) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = svc.tenant_name(${applicationId}::uuid) AND c.relkind IN ('r', 'm'))
      + (SELECT coalesce(sum(size), 0) FROM svc.uploads WHERE application_id = ${applicationId}::uuid
         AND status IN ('pending', 'processing') AND id <> ${uploadId}::uuid)
      + (SELECT coalesce(sum(bytes), 0) FROM svc.arriving_uploads WHERE application_id = ${applicationId}::uuid
         AND id <> ${uploadId}::uuid AND heard_at > clock_timestamp() - ${arrivalSeconds} * interval '1 second')
      + (SELECT coalesce(sum(o.bytes), 0) FROM svc.overviews o JOIN svc.datasets d ON d.id = o.dataset_id
         WHERE d.application_id = ${applicationId}::uuid)
    )::float8 AS used`)
  return row?.used ?? 0
}

export async function bytesIn(files: FileStore, applicationId: string): Promise<number> {
  let sum = 0
  for await (const { size } of files.list(filesPrefix(applicationId))) sum += size
  return sum
}
