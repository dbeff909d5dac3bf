/** Creates the services of databases, datasets and queries. */
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { Secrets } from '../../api/access/secrets/secrets.ts'
import { type Connections, createConnections } from '../../data/databases/connection.ts'
import { createDataVersions } from '../../data/datasets/data-versions.ts'
import { createExportFiles } from '../../data/datasets/exports/export-files.ts'
import { createExportThreads } from '../../data/datasets/exports/export-threads.ts'
import type { Exports } from '../../data/datasets/exports/exports.ts'
import type { MemoryThreads } from '../../data/datasets/memory/memory-source-threads.ts'
import { createStreamSlots, type OnQuery } from '../../data/datasets/queries/stream-slots.ts'
import { openHeaders } from '../../data/datasets/secret-headers.ts'
import { createSources } from '../../data/datasets/sources.ts'
import { lambdaSettings } from '../../data/datasets/types/lambda-settings.ts'
import { createRestCache } from '../../data/datasets/types/rest-cache.ts'
import { type MachineShare, partOf } from '../../kernel/concurrency/machine-share.ts'
import { whenReady } from '../../kernel/concurrency/when-ready.ts'
import type { WorkWatch } from '../../kernel/concurrency/work-watch.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import type { Egress } from '../../kernel/egress/guard.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Config } from '../../kernel/settings/config.ts'
import { createApplicationLimits } from '../../tenants/applications/application-limits.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { openChanges } from './open-changes.ts'

type DataSettings = Parameters<typeof lambdaSettings>[0] &
  Pick<Config, 'database' | 'DATA_DIR' | 'STREAMS_PER_APPLICATION' | 'TENANT_CONNECTIONS'> &
  Pick<Config, 'EXPORT_MAX_BYTES' | 'EXPORT_CACHE_BYTES' | 'LISTENERS_PER_APPLICATION'>

type DataOptions = {
  readonly db: Db
  readonly works: WorkWatch
  readonly secrets: Secrets
  readonly logger: FastifyBaseLogger
  readonly config: DataSettings
  readonly share: MachineShare
  readonly egress: Egress
  readonly memoryThreads: MemoryThreads
  readonly onQuery: OnQuery
  readonly telemetry?: Telemetry | undefined
}

export function createData(options: DataOptions) {
  const { db, secrets, config, share, egress, memoryThreads, logger, onQuery, telemetry } = options
  const platform = db.kind === 'postgres' ? config.database : undefined
  const poolSize = config.STREAMS_PER_APPLICATION + 2
  const maxConnections = config.TENANT_CONNECTIONS
  const opened = createConnections({
    db,
    secrets,
    platform,
    poolSize,
    maxConnections,
    share,
    dataDirectory: config.DATA_DIR,
    resolve: egress.resolve,
    stream: egress.stream,
    onError: (error) => logger.warn({ err: error }, 'a database driver failed'),
  })
  const connections = telemetry?.connections(opened) ?? opened
  const sources = createSources(db, databaseAccess(connections), {
    egress,
    cache: createRestCache({}),
    lambda: lambdaSettings(config),
    openHeaders: (dataset) => openHeaders(dataset, secrets),
    threads: memoryThreads,
  })
  const slots = createStreamSlots({
    perApplication: config.STREAMS_PER_APPLICATION,
    limitOf: queriesAtOnce(db, share),
    onQuery,
  })
  const exports = createExports({ db, connections, config, share, logger })
  return { connections, sources, slots, exports, ...openChanges(options) }
}

/** More than the installation's would find no connection. */
function queriesAtOnce(db: Db, share: MachineShare) {
  const limitsOf = createApplicationLimits(db)
  return (applicationId: string) =>
    whenReady(limitsOf(applicationId), ({ queriesAtOnce: own }) => own && partOf(own, share))
}

type ExportParts = Pick<DataOptions, 'db' | 'config' | 'share' | 'logger'> & { readonly connections: Connections }

function createExports({ db, connections, config, share, logger }: ExportParts): Exports {
  return {
    threads: createExportThreads(share),
    files: createExportFiles({
      directory: join(config.DATA_DIR, 'exports'),
      maxBytes: config.EXPORT_CACHE_BYTES,
      largestBytes: config.EXPORT_MAX_BYTES,
      share,
      onError: (error) => logger.warn({ err: error }, 'files of exports were not swept'),
    }),
    versions: createDataVersions({ db, connections }),
    maxBytes: config.EXPORT_MAX_BYTES,
    async wktOf(srid) {
      const [row] = await db.query<{ srtext: string | null }>(
        sql`SELECT srtext FROM spatial_ref_sys WHERE srid = ${srid}::int4`,
      )
      return row?.srtext ?? undefined
    },
  }
}

/** What datasets need of databases, and no more. */
const databaseAccess = (connections: Connections) => ({
  find: connections.lookUp,
  async connect(applicationId: string, id: string) {
    const record = await connections.find(applicationId, id)
    if (!record)
      throw new ApiError(
        'not_found',
        'The database that this dataset names does not exist. Give the dataset another databaseId.',
      )
    return connections.open(record)
  },
})
