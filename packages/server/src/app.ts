import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { createBearers } from './access/bearers.ts'
import { createKeyCache } from './access/key-cache.ts'
import { createPasswords } from './access/passwords.ts'
import { createRevocation } from './access/revocation.ts'
import type { Secrets } from './access/secrets.ts'
import { createTokenKeys } from './access/token-keys.ts'
import { createTokens } from './access/tokens.ts'
import { type Agents, createAgents } from './agents/agents.ts'
import { loadBridgePackage } from './agents/bridge-package.ts'
import { type Bridges, type BridgesOptions, createBridges, noBridges } from './agents/bridges.ts'
import { limitsOf } from './agents/limits.ts'
import { fetchOwnTools } from './agents/own-tools.ts'
import { openTracing } from './agents/tracing.ts'
import { windowSeconds } from './auth/attempts.ts'
import { sweepSessions } from './auth/sessions.ts'
import type { Bus } from './bus/bus.ts'
import { createMemoryBus } from './bus/memory.ts'
import type { Config } from './config.ts'
import { createDeliveries } from './contactpoints/deliveries.ts'
import { type Connections, createConnections } from './databases/connection.ts'
import { createMemoryThreads, type MemoryThreads } from './datasets/memory-source-threads.ts'
import { maxTimeoutMs } from './datasets/query-parameters.ts'
import { readFunctions } from './datasets/sources/lambda-functions.ts'
import { createRestCache } from './datasets/sources/rest-cache.ts'
import { createSources, type Dataset } from './datasets/sources.ts'
import { createStreamSlots, type StreamSlots } from './datasets/stream-slots.ts'
import type { Db } from './db/db.ts'
import { defaultLimits } from './db/embedded-limits.ts'
import { createEgress, type Egress } from './egress/guard.ts'
import { ApiError } from './errors.ts'
import { baseUrlOf } from './http/base-url.ts'
import { limitConnections } from './http/connection-limit.ts'
import { createIdleCloser } from './http/idle-connections.ts'
import type { Operation } from './http/operation.ts'
import { createServer } from './http/server.ts'
import { createJobs } from './jobs/jobs.ts'
import { createMailer } from './mail/mailer.ts'
import { createFonts } from './maps/fonts.ts'
import { createSprites } from './maps/sprites.ts'
import { createMetrics, type Gauges, type Metrics } from './metrics/metrics.ts'
import { allOperations } from './operations.ts'
import { isLaptop, ownServicesOf } from './own-services.ts'
import { createSending } from './sending/sending.ts'
import { publicLimits } from './server-info/limits.ts'
import type { ServerConfig } from './server-info/server-info.ts'
import { watchStorage } from './server-info/storage.ts'
import { createStyleCheck } from './styles/style-check.ts'
import { createTiling, type Tiling, type TilingOptions } from './tiling.ts'
import { createUploading } from './uploading.ts'

export type App = {
  readonly http: FastifyInstance
  readonly operations: readonly Operation[]
  readonly metrics: Metrics
  /** Takes part in the jobs that are left to do. */
  work(): Promise<void>
  /** Answers what has begun, refuses what comes, and lets go of everything but the database. */
  close(): Promise<void>
}

/** The settings that the service itself reads. */
export type AppConfig = Omit<Config, 'PORT' | 'MASTER_API_KEY' | 'SECRET_KEY' | 'LOG_LEVEL'>

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
  const bus = await openBus(config, secrets, logger)
  let listener: FastifyInstance | undefined
  const egress = await openEgress(config, db, () => listener?.server.address())
  const fetchTools = fetchOwnTools(() => listener)
  const agents = await openAgents({ db, secrets, logger, config, egress, bus, fetchTools })
  const { authority, ...credentials } = createAuthority({ db, secrets, config, logger })
  const { keys, revocation } = authority
  const trustProxy = config.TRUST_PROXY === 'true' || config.TRUST_PROXY || false
  const baseUrl = (request: FastifyRequest) => baseUrlOf(request, config.BASE_URL, trustProxy !== false)
  const styleCheck = createStyleCheck()
  const memoryThreads = createMemoryThreads()
  let hasStopped = false
  const isStopping = () => hasStopped
  const { connections, sources, slots } = createData({ db, secrets, config, egress, memoryThreads })
  const onJobError = (error: unknown) => logger.error({ err: error }, 'job failed')
  const jobs = createJobs({ db, onError: onJobError })
  const maps = await createMaps({ db, config, connections, sources, fetch: egress.fetch, jobs, onError: onJobError })
  const { tiling } = maps
  const uploading = createUploading({ db, connections, sources, tiling, jobs, config, onError: onJobError })
  const messages = createMessages({ db, secrets, logger, config, egress })
  const metrics = createMetrics(gaugesOf({ agents, slots, tiling }), about.version.tag)
  const storage = watchStorage(config.DATA_DIR, config.DATA_MIN_FREE_MB * 1024 * 1024)
  const own = { db, secrets, styleCheck, connections, sources, slots, about, isStopping, baseUrl, storage }
  const parts = { ...own, ...authority, ...credentials, ...maps, ...messages, limits: limitsToTell(config, db) }
  const operations = allOperations({ ...parts, agents, uploading, metrics, dataDirectory: config.DATA_DIR })
  const limits = { bodyLimit: config.BODY_LIMIT, hstsSubDomains: config.HSTS !== '' }
  const http = await createServer(operations, authority, { logger, trustProxy, isStopping, ...limits })
  listener = http
  limitConnections(http.server, config.MAX_CONNECTIONS)
  const closeIdle = createIdleCloser(http.server)
  agents.attach(http)

  const flushUsage = () => keys.flush().catch((error) => logger.warn({ err: error }, 'key usage was not written'))
  const sweep = () =>
    sweepSessions(db, windowSeconds).catch((error) => logger.warn({ err: error }, 'ended sessions were not swept'))
  const usageTimer = setInterval(() => void Promise.all([flushUsage(), sweep()]), usageFlushMs).unref()
  return {
    http,
    operations,
    metrics,
    work: () => jobs.start().then(uploading.start),
    async close() {
      hasStopped = true
      clearInterval(usageTimer)
      metrics.close()
      storage.close()
      // At once: the server waits for the streams that agents finish, and agents may still be asked by other replicas.
      // A stream that ends now leaves a connection behind that would wait for more requests.
      const sweeping = setInterval(closeIdle, 200)
      await Promise.all([http.close(), agents.close()])
      revocation.close()
      clearInterval(sweeping)
      await bus.close()
      await messages.close()
      await uploading.close()
      await jobs.close()
      messages.mailer.close()
      await Promise.all([styleCheck.close(), memoryThreads.close(), maps.tiling.close()])
      await Promise.all([connections.close(), egress.close()])
      await flushUsage()
    },
  }
}

/** The embedded database ends queries sooner than a `timeout` may ask. */
const limitsToTell = (config: AppConfig, { kind }: Db) =>
  publicLimits(config, kind === 'embedded' ? defaultLimits.timeMs : maxTimeoutMs)

/** `listening` is the server's own address, once it listens. */
const openEgress = async (config: AppConfig, db: Db, listening: () => AddressInfo | string | null | undefined) =>
  createEgress({
    allow: config.EGRESS_ALLOW,
    mayReachLoopback: await isLaptop(config, db.kind),
    own: ownServicesOf(config, listening),
  })

/** What is known at any moment without having been counted. */
const gaugesOf = ({ agents, slots, tiling }: { agents: Agents; slots: StreamSlots; tiling: Tiling }): Gauges => ({
  agent_invocations_in_flight: { help: 'Invocations of agents that are under way', read: () => agents.inFlight() },
  agent_workers: { help: 'Workers that are connected here', read: () => [...agents.workers.connections()].length },
  query_streams: { help: 'Queries of datasets that are running or being read', read: () => slots.taken },
  tile_cache_bytes: { help: 'Memory that tiles take', read: () => tiling.cache.bytes },
  tiles_in_the_making: { help: 'Tiles that are being made', read: () => tiling.workers.pending },
})

type AgentParts = Omit<AppOptions, 'about'> & { egress: Egress; bus: Bus; fetchTools: BridgesOptions['fetchTools'] }

async function openAgents(parts: AgentParts): Promise<Agents> {
  const { db, bus, config, logger } = parts
  const bridges = await openBridges(parts)
  return createAgents({ db, bus, bridges, limits: limitsOf(config), tracing: await openTracing(), log: logger })
}

/** What answers for agents without a worker; its code is loaded only where it is wanted. */
async function openBridges({ db, secrets, logger, config, egress, fetchTools }: AgentParts): Promise<Bridges> {
  if (config.AGENT_BRIDGES === 'off') return noBridges
  const bridges = await loadBridgePackage()
  const { stream } = egress
  return createBridges({ db, secrets, bridges, stream, fetchTools, limits: limitsOf(config), log: logger })
}

async function openBus(config: AppConfig, secrets: Secrets, logger: FastifyBaseLogger): Promise<Bus> {
  if (!config.NATS_URL) return createMemoryBus()
  const onError = (error: unknown) => logger.warn({ err: error }, 'message bus failed')
  const { createNatsBus } = await import('./bus/nats.ts')
  return createNatsBus({ url: config.NATS_URL, namespace: secrets.fingerprint, onError })
}

/** Where data are, and how they are asked. */
function createData({
  db,
  secrets,
  config,
  egress,
  memoryThreads,
}: Pick<AppOptions, 'db' | 'secrets' | 'config'> & { egress: Egress; memoryThreads: MemoryThreads }) {
  const platformUrl = db.kind === 'postgres' ? config.DATABASE_URL : undefined
  const poolSize = config.STREAMS_PER_APPLICATION + 2
  const maxConnections = config.TENANT_CONNECTIONS
  const connections = createConnections({ db, secrets, platformUrl, poolSize, maxConnections, resolve: egress.resolve })
  const sources = createSources(placesOf(connections), {
    egress,
    cache: createRestCache({}),
    lambda: lambdaOf(config),
    openHeaders: (dataset) => headersOf(dataset, secrets),
    threads: memoryThreads,
  })
  const slots = createStreamSlots(config.STREAMS_PER_APPLICATION, config.STUCK_READER_MS)
  return { connections, sources, slots }
}

/** Who may do what: keys, and the tokens of users. What is revoked here ends what is open at once. */
function createAuthority({ db, secrets, config, logger }: Omit<AppOptions, 'about'>) {
  const revocation = createRevocation({
    db,
    onError: (error) => logger.warn({ err: error }, 'revoked keys and sessions could not be checked'),
  })
  const lifetimes = lifetimesOf(config)
  const tokenKeys = createTokenKeys(db, secrets, lifetimes.accessToken)
  const tokens = createTokens(tokenKeys, secrets, lifetimes.accessToken)
  const keys = createKeyCache(db, revocation.recheck)
  const bearers = createBearers(db, tokens, keys, revocation.recheck)
  const authority = { keys, bearers, revocation }
  return { authority, passwords: createPasswords(), tokenKeys, tokens, lifetimes }
}

type MapParts = Pick<AppOptions, 'db' | 'config'> &
  Pick<TilingOptions, 'connections' | 'sources' | 'fetch' | 'jobs' | 'onError'>

/** Tiles, and what maps need besides. */
async function createMaps({ config, ...parts }: MapParts) {
  const { DATA_DIR: dataDirectory, TILE_CACHE_MB: cacheMb, OVERVIEW_MIN_ROWS: overviewMinRows } = config
  const maxConnections = config.TILE_CONNECTIONS
  return {
    tiling: createTiling({ ...parts, dataDirectory, assetsDirectory, cacheMb, overviewMinRows, maxConnections }),
    budget: { maxFeatures: config.TILE_MAX_FEATURES, maxBytes: config.TILE_MAX_BYTES },
    fonts: await createFonts([join(assetsDirectory, 'fonts'), join(dataDirectory, 'fonts')]),
    sprites: await createSprites(join(assetsDirectory, 'sprites')),
  }
}

/** Mail and messages to contact points: rows of the database, which are sent in the background. */
function createMessages({ db, secrets, logger, config, egress }: Omit<AppOptions, 'about'> & { egress: Egress }) {
  const onError = (error: unknown) => logger.warn({ err: error }, 'sending mail and messages failed')
  const sending = createSending({ db, onError })
  const register = sending.add
  const mailer = createMailer({ db, secrets, smtpUrl: config.SMTP_URL, from: config.MAIL_FROM, register })
  const deliveries = createDeliveries({ db, secrets, egress, sendMail: mailer.deliver, register })
  sending.start()
  return { mailer, deliveries, close: sending.close }
}

const lifetimesOf = (config: AppConfig) => ({
  accessToken: config.ACCESS_TOKEN_TTL,
  refreshToken: config.REFRESH_TOKEN_TTL,
  resetToken: config.RESET_TOKEN_TTL,
  verifyToken: config.VERIFY_TOKEN_TTL,
})

/** What datasets need of databases, and no more. */
const placesOf = (connections: Connections) => ({
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

function lambdaOf(config: AppConfig) {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = config
  const functions = readFunctions(config.LAMBDA_FUNCTIONS)
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
