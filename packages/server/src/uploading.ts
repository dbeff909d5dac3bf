import type { Config } from './config.ts'
import type { Connections } from './databases/connection.ts'
import type { AttributeDto } from './datasets/attribute-dto.ts'
import { findDataset } from './datasets/find-dataset.ts'
import { tableName } from './datasets/introspect.ts'
import type { Sources } from './datasets/sources.ts'
import type { Db } from './db/db.ts'
import { sql } from './db/sql.ts'
import { ApiError } from './errors.ts'
import type { Jobs } from './jobs/jobs.ts'
import { cleanAttribution } from './tiles/attribution.ts'
import { mapOf } from './tiles/detect.ts'
import type { Tiling } from './tiling.ts'
import type { LoadingParts } from './uploads/run-upload.ts'
import { createUploads, type Uploads } from './uploads/uploads.ts'

export type UploadingOptions = {
  db: Db
  connections: Connections
  sources: Sources
  tiling: Tiling
  jobs: Jobs
  config: Pick<
    Config,
    'DATA_DIR' | 'UPLOAD_MAX_BYTES' | 'UPLOADS_PER_APPLICATION' | 'UPLOADS_WAITING_PER_APPLICATION' | 'UPLOAD_GDAL'
  >
  onError(error: unknown): void
}

/** Uploads, and what they need of the rest. */
export type Uploading = Uploads & Pick<LoadingParts, 'findReplaced' | 'directory'> & Limits
type Limits = { readonly maxBytes: number; readonly maxWaiting: number }

export function createUploading(options: UploadingOptions): Uploading {
  const { db, connections, sources, tiling, config } = options
  const parts: LoadingParts = {
    db,
    directory: config.DATA_DIR,
    allowNativeGdal: config.UPLOAD_GDAL === 'native',
    async target(applicationId, databaseId) {
      const record = await connections.lookUp(applicationId, databaseId)
      if (!record) throw new ApiError('not_found', 'The database is gone.')
      return { ...(await connections.writable(record)), databaseId: record.id, isOwn: record.type === 'internal' }
    },
    async findReplaced(applicationId, id) {
      const found = await findDataset(db, applicationId, id)
      if (!found) return undefined
      const [row] = await db.query<{ ownerId: number | null }>(
        sql`SELECT owner_id AS "ownerId" FROM svc.datasets WHERE id = ${id}::uuid`,
      )
      const { databaseId, type, name, source } = found
      return { databaseId, type, name, ownerId: row?.ownerId ?? null, tableIn: (schema) => tableName(source, schema) }
    },
    async inspect(applicationId, databaseId, source) {
      const table = { applicationId, databaseId, type: 'table', source, metadata: {}, attributes: [], secrets: null }
      return sources.inspect(table)
    },
    mapOf,
    archiveMap: (applicationId, uri) => tiling.detect(applicationId, 'tilelive', uri),
    cleanAttribution,
    stageOverview: ({ attributes, ...dataset }, rows, table, signal) =>
      tiling.stageOverview({ ...dataset, attributes: attributes as AttributeDto[] }, rows, table, signal),
  }
  const uploads = createUploads({
    ...parts,
    jobs: options.jobs,
    perApplication: config.UPLOADS_PER_APPLICATION,
    onError: options.onError,
  })
  const { findReplaced, directory } = parts
  const limits = { maxBytes: config.UPLOAD_MAX_BYTES, maxWaiting: config.UPLOADS_WAITING_PER_APPLICATION }
  return { ...uploads, findReplaced, directory, ...limits }
}
