import { isDeepStrictEqual } from 'node:util'
import type { MachineShare } from '../../kernel/concurrency/machine-share.ts'
import type { Watch } from '../../kernel/concurrency/work-watch.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Config } from '../../kernel/settings/config.ts'
import type { FileStore } from '../../kernel/storage/file-store.ts'
import type { Connections } from '../databases/connection.ts'
import { isPlatformType, platformTypes, serverKeyOf } from '../databases/drivers.ts'
import { loginKey } from '../databases/login-key.ts'
import { tableName } from '../databases/postgres/introspect.ts'
import { tenantSchema } from '../databases/tenant-schema.ts'
import { findDataset } from '../datasets/find-dataset.ts'
import type { Sources } from '../datasets/sources.ts'
import { archiveType } from '../tiles/source/types/archive.ts'
import type { Tiling } from '../tiles/tiling.ts'
import { createArrivals } from './http/arriving-uploads.ts'
import { createStorageQuota } from './http/storage-quota.ts'
import type { UploadOperationsOptions } from './http/upload-operations.ts'
import type { LoadingParts } from './run/loading-parts.ts'
import { createUploads, type Uploads } from './uploads.ts'

type UploadSettings = Pick<
  Config,
  | 'DATA_DIR'
  | 'UPLOAD_MAX_BYTES'
  | 'UPLOADS_PER_APPLICATION'
  | 'UPLOADS_WAITING_PER_APPLICATION'
  | 'UPLOADS_PER_HOUR'
  | 'UPLOADS_ARRIVING'
  | 'UPLOAD_MIN_RATE'
  | 'UPLOAD_DEADLINE_SECONDS'
  | 'STORAGE_PER_APPLICATION'
  | 'UPLOAD_STALLED_SECONDS'
  | 'UPLOAD_WORK_SECONDS'
  | 'UPLOAD_GDAL'
>

export type UploadingOptions = {
  db: Db
  connections: Connections
  sources: Sources
  tiling: Tiling
  files: FileStore
  config: UploadSettings
  share: MachineShare
  onStatus?(id: string): void
  onError(error: unknown): void
  /** Watches a part of the polling. */
  readonly watch?: () => Watch
}

/** Uploads and their dependencies. */
export type Uploading = Uploads &
  Pick<
    UploadOperationsOptions,
    'findReplaced' | 'sharersOf' | 'directory' | 'files' | 'maxBytes' | 'pace' | 'arrive' | 'storage'
  >

/** Datasets of the same database, or of the same platform schema, that use the replaced dataset's table. */
const sharersOf =
  (db: Db): UploadOperationsOptions['sharersOf'] =>
  async (applicationId, id, { databaseId, ownSchema = '', tableIn }) => {
    const isPlatform = ownSchema !== ''
    const datasets = await db.query<{ id: string; ownerId: number | null; source: string }>(sql`
      SELECT d.id, d.owner_id AS "ownerId", d.source FROM svc.datasets d JOIN svc.databases b ON b.id = d.database_id
      WHERE d.application_id = ${applicationId}::uuid AND d.type = 'table' AND d.id <> ${id}::uuid
        AND (d.database_id = ${databaseId}::uuid OR (${isPlatform} AND b.type = ANY (${platformTypes}::text[])))`)
    return datasets.filter(({ source }) => isDeepStrictEqual(tableName(source, ownSchema), tableIn(ownSchema)))
  }

export function createUploading(options: UploadingOptions): Uploading {
  const { db, connections, sources, tiling, files, config } = options
  const storage = createStorageQuota(files, config.STORAGE_PER_APPLICATION)
  const parts: LoadingParts = {
    db,
    storage,
    directory: config.DATA_DIR,
    files,
    allowNativeGdal: config.UPLOAD_GDAL === 'native',
    async target(applicationId, databaseId) {
      const record = await connections.lookUp(applicationId, databaseId)
      if (!record) throw new ApiError('not_found', 'There is no database with this id.')
      const keys = { loginKey: loginKey(record), serverKey: serverKeyOf(record) }
      const place = await connections.writable(record)
      return { ...place, ...keys, databaseId: record.id, isPlatform: isPlatformType(record.type) }
    },
    async findReplaced(applicationId, id) {
      const dataset = await findDataset(db, applicationId, id)
      if (!dataset) return undefined
      const [row] = await db.query<{ ownerId: number | null; databaseType: string }>(sql`
        SELECT d.owner_id AS "ownerId", b.type AS "databaseType"
        FROM svc.datasets d JOIN svc.databases b ON b.id = d.database_id WHERE d.id = ${id}::uuid`)
      if (!row) return undefined
      const { databaseId, type, name, source } = dataset
      const ownSchema = isPlatformType(row.databaseType) ? tenantSchema(applicationId) : undefined
      const tableIn = (schema: string) => tableName(source, schema)
      return { databaseId, type, name, source, ownerId: row.ownerId, ownSchema, tableIn }
    },
    async inspect(applicationId, databaseId, source) {
      const table = {
        applicationId,
        databaseId,
        type: 'table' as const,
        source,
        metadata: {},
        attributes: [],
        secrets: null,
      }
      return sources.inspect(table)
    },
    archiveMap: (applicationId, uri) => archiveType.detect(tiling.context, applicationId, uri),
    overviews: tiling.overviews,
  }
  const uploads = createUploads({
    ...parts,
    stalledMs: config.UPLOAD_STALLED_SECONDS * 1000,
    workMs: config.UPLOAD_WORK_SECONDS * 1000,
    perApplication: config.UPLOADS_PER_APPLICATION,
    share: options.share,
    ...(options.onStatus && { onStatus: options.onStatus }),
    onError: options.onError,
    watch: options.watch,
  })
  const { findReplaced, directory } = parts
  const maxWaiting = config.UPLOADS_WAITING_PER_APPLICATION
  const limits = {
    maxBytes: config.UPLOAD_MAX_BYTES,
    pace: { bytesPerSecond: config.UPLOAD_MIN_RATE, deadlineMs: config.UPLOAD_DEADLINE_SECONDS * 1000 },
    arrive: createArrivals(db, {
      maxWaiting,
      perHour: config.UPLOADS_PER_HOUR,
      maxArriving: config.UPLOADS_ARRIVING,
      storage,
    }),
    storage,
  }
  return { ...uploads, findReplaced, sharersOf: sharersOf(db), directory, files, ...limits }
}
