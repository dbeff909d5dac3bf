import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { createKeyCache } from './access/key-cache.ts'
import type { Secrets } from './access/secrets.ts'
import type { Config } from './config.ts'
import { type Connections, createConnections } from './databases/connection.ts'
import { createMemoryThreads } from './datasets/memory-source-threads.ts'
import { readFunctions } from './datasets/sources/lambda-functions.ts'
import { createRestCache } from './datasets/sources/rest-cache.ts'
import { createSources, type Dataset } from './datasets/sources.ts'
import { createStreamSlots } from './datasets/stream-slots.ts'
import type { Db } from './db/db.ts'
import { createEgress } from './egress/guard.ts'
import { ApiError } from './errors.ts'
import { baseUrlOf } from './http/base-url.ts'
import type { Operation } from './http/operation.ts'
import { createServer } from './http/server.ts'
import { createJobs } from './jobs/jobs.ts'
import { createFonts } from './maps/fonts.ts'
import { createSprites } from './maps/sprites.ts'
import { allOperations } from './operations.ts'
import type { ServerConfig } from './server-info/server-info.ts'
import { createStyleCheck } from './styles/style-check.ts'
import { createTiling } from './tiling.ts'

export type App = {
  readonly http: FastifyInstance
  readonly operations: readonly Operation[]
  /** Takes part in the jobs that are left to do. */
  work(): Promise<void>
  /** Answers what has begun, refuses what comes, and lets go of everything but the database. */
  close(): Promise<void>
}

/** The settings that the service itself reads. */
export type AppConfig = Omit<Config, 'PORT' | 'HOST' | 'MASTER_API_KEY' | 'SECRET_KEY' | 'LOG_LEVEL'>

export type AppOptions = {
  db: Db
  secrets: Secrets
  logger: FastifyBaseLogger
  config: AppConfig
  about: ServerConfig
}

const usageFlushMs = 60_000

/** The base map, fonts and sprites that come with the service. */
const assetsDirectory = fileURLToPath(new URL('../../assets', import.meta.url))

/** The service on a database, not yet listening. */
export async function createApp({ db, secrets, logger, config, about }: AppOptions): Promise<App> {
  const keys = createKeyCache(db)
  const styleCheck = createStyleCheck()
  const memoryThreads = createMemoryThreads()
  let hasStopped = false
  const isStopping = () => hasStopped
  const egress = createEgress({ allow: config.EGRESS_ALLOW, isProduction: config.NODE_ENV === 'production' })
  const platformUrl = db.kind === 'postgres' ? config.DATABASE_URL : undefined
  const poolSize = config.STREAMS_PER_APPLICATION + 2
  const connections = createConnections({ db, secrets, platformUrl, poolSize, resolve: egress.resolve })
  const sources = createSources(placesOf(connections), {
    egress,
    cache: createRestCache({}),
    lambda: lambdaOf(config),
    openHeaders: (dataset) => headersOf(dataset, secrets),
    threads: memoryThreads,
  })
  const slots = createStreamSlots(config.STREAMS_PER_APPLICATION, config.STUCK_READER_MS)
  const { fetch } = egress
  const dataDirectory = config.DATA_DIR
  const onJobError = (error: unknown) => logger.error({ err: error }, 'job')
  const jobs = createJobs({ db, onError: onJobError })
  const tiling = createTiling({
    db,
    connections,
    sources,
    fetch,
    dataDirectory,
    assetsDirectory,
    cacheMb: config.TILE_CACHE_MB,
    jobs,
    overviewMinRows: config.OVERVIEW_MIN_ROWS,
    onError: onJobError,
  })
  const trustProxy = config.TRUST_PROXY === 'true' || config.TRUST_PROXY || false
  const baseUrl = (request: FastifyRequest): string => baseUrlOf(request, config.BASE_URL, trustProxy !== false)
  const budget = { maxFeatures: config.TILE_MAX_FEATURES, maxBytes: config.TILE_MAX_BYTES }
  const fonts = await createFonts([join(assetsDirectory, 'fonts'), join(dataDirectory, 'fonts')])
  const sprites = await createSprites(join(assetsDirectory, 'sprites'))
  const operations = allOperations({
    ...{ db, secrets, keys, styleCheck, connections, sources, slots, about, isStopping },
    ...{ tiling, budget, baseUrl, fonts, sprites },
  })
  const http = await createServer(operations, keys, { logger, trustProxy, bodyLimit: config.BODY_LIMIT, isStopping })

  const flushUsage = () => keys.flush().catch((error) => logger.warn({ err: error }, 'key usage was not written'))
  const usageTimer = setInterval(flushUsage, usageFlushMs).unref()
  return {
    http,
    operations,
    work: () => jobs.start(),
    async close() {
      hasStopped = true
      clearInterval(usageTimer)
      await http.close()
      await jobs.close()
      await Promise.all([styleCheck.close(), memoryThreads.close(), tiling.close()])
      await Promise.all([connections.close(), egress.close()])
      await flushUsage()
    },
  }
}

/** What datasets need of databases, and no more. */
const placesOf = (connections: Connections) => ({
  find: connections.lookUp,
  async connect(applicationId: string, id: string) {
    const record = await connections.find(applicationId, id)
    if (!record) throw new ApiError('not_found', 'The database of this dataset is gone.')
    return connections.open(record)
  },
})

function lambdaOf(config: AppConfig) {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = config
  const functions = readFunctions(config.LAMBDA_FUNCTIONS, config.NODE_ENV === 'production')
  if (!accessKeyId || !secretAccessKey) return undefined
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
  return {
    functions,
    region: config.AWS_REGION,
    credentials,
    ...(config.LAMBDA_ENDPOINT && { endpoint: config.LAMBDA_ENDPOINT }),
  }
}

function headersOf({ secrets: sealed, applicationId }: Dataset, secrets: Secrets): Record<string, string> {
  if (!sealed) return {}
  const { headers = {} } = JSON.parse(secrets.open(sealed, `datasets.secrets.${applicationId}`))
  return headers
}
