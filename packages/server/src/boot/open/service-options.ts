// What a server is opened with.
import type { FastifyBaseLogger } from 'fastify'
import type { Secrets } from '../../api/access/secrets/secrets.ts'
import type { ServerConfig } from '../../api/server-info/server-info.ts'
import type { Db } from '../../kernel/db/db.ts'
import type { Config } from '../../kernel/settings/config.ts'
import type { ClusterWorker } from '../cluster/cluster-worker.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'

/** The settings that the service itself reads. */
export type AppConfig = Omit<Config, 'PORT' | 'MASTER_API_KEY' | 'SECRET_KEY' | 'LOG_LEVEL'>

export type ServiceOptions = {
  db: Db
  secrets: Secrets
  logger: FastifyBaseLogger
  config: AppConfig
  about: ServerConfig
  /** This process as one of several workers. */
  worker?: ClusterWorker | undefined
  /** Where traces and metrics are exported. */
  telemetry?: Telemetry | undefined
}
