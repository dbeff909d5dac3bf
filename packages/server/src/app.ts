import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { createKeyCache } from './access/key-cache.ts'
import type { Secrets } from './access/secrets.ts'
import type { Config } from './config.ts'
import type { Db } from './db/db.ts'
import type { Operation } from './http/operation.ts'
import { createServer } from './http/server.ts'
import { allOperations } from './operations.ts'
import type { ServerConfig } from './server-info/server-info.ts'
import { createStyleCheck } from './styles/style-check.ts'

export type App = {
  readonly http: FastifyInstance
  readonly operations: readonly Operation[]
  /** Answers what has begun, refuses what comes, and lets go of everything but the database. */
  close(): Promise<void>
}

export type AppOptions = {
  db: Db
  secrets: Secrets
  logger: FastifyBaseLogger
  config: Pick<Config, 'TRUST_PROXY' | 'BODY_LIMIT'>
  about: ServerConfig
}

const usageFlushMs = 60_000

/** The service on a database, not yet listening. */
export async function createApp({ db, secrets, logger, config, about }: AppOptions): Promise<App> {
  const keys = createKeyCache(db)
  const styleCheck = createStyleCheck()
  let hasStopped = false
  const isStopping = () => hasStopped
  const operations = allOperations({ db, secrets, keys, styleCheck, about, isStopping })
  const trustProxy = config.TRUST_PROXY === 'true' || config.TRUST_PROXY || false
  const http = await createServer(operations, keys, { logger, trustProxy, bodyLimit: config.BODY_LIMIT, isStopping })

  const flushUsage = () => keys.flush().catch((error) => logger.warn({ err: error }, 'key usage was not written'))
  const usageTimer = setInterval(flushUsage, usageFlushMs).unref()
  return {
    http,
    operations,
    async close() {
      hasStopped = true
      clearInterval(usageTimer)
      await http.close()
      await styleCheck.close()
      await flushUsage()
    },
  }
}
