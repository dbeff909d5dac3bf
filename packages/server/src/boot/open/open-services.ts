/** Creates the services of a server, and closes them in order. */
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Agents } from '../../agents/agents.ts'
import { fetchToolsInProcess } from '../../agents/bridges/in-process-tools.ts'
import { openAgents } from '../../agents/open-agents.ts'
import type { Authority } from '../../api/access/authenticate.ts'
import { createMetrics, type Gauges, type Metrics } from '../../api/metrics/metrics.ts'
import type { BaseServices } from '../../api/resource/resource.ts'
import { createGenerations, createStores } from '../../api/resource/services.ts'
import type { ChangeFeed } from '../../data/changes/change-feed.ts'
import { createMemoryThreads } from '../../data/datasets/memory/memory-source-threads.ts'
import type { StreamSlots } from '../../data/datasets/queries/stream-slots.ts'
import { createUnplacedCheck } from '../../data/ogc/collections/unplaced-rows.ts'
import { openTiles } from '../../data/tiles/http/tile-services.ts'
import type { Tiling } from '../../data/tiles/tiling.ts'
import { createUploading, type Uploading } from '../../data/uploads/uploading.ts'
import { createWebhooks } from '../../data/webhooks/webhooks.ts'
import type { Bus } from '../../kernel/bus/bus.ts'
import { openBus } from '../../kernel/bus/open-bus.ts'
import { wholeMachine } from '../../kernel/concurrency/machine-share.ts'
import type { WorkWatch } from '../../kernel/concurrency/work-watch.ts'
import { deniedServicesOf, isLaptop } from '../../kernel/egress/denied-services.ts'
import { createEgress, type Egress } from '../../kernel/egress/guard.ts'
import { createJobs } from '../../kernel/jobs/jobs.ts'
import { createStarter, type Starter } from '../../kernel/jobs/starter.ts'
import { resources } from '../../operations.ts'
import type { Services } from '../../services.ts'
import { createStyleCheck } from '../../tenants/cartography/styles/style-check.ts'
import { createDeliveries } from '../../tenants/contactpoints/deliveries.ts'
import { createMailer } from '../../tenants/mail/mailer.ts'
import { createOutbox } from '../../tenants/outbox/outbox.ts'
import { applicationMetrics } from '../../tenants/usage/application-metrics.ts'
import type { Tallies } from '../../tenants/usage/tallies.ts'
import type { ClusterWorker } from '../cluster/cluster-worker.ts'
import { internalCalls } from './internal-calls.ts'
import { openAuthority, startUpkeep } from './open-authority.ts'
import { changeGauges } from './open-changes.ts'
import { createData } from './open-data.ts'
import { openHealth } from './open-health.ts'
import { createMaps, placesOf, tilesOptionsOf } from './open-maps.ts'
import { type OpenUsage, openUsage } from './open-usage.ts'
import { databaseServices, installedServices, rememberedRecords } from './plain-services.ts'
import type { ServiceOptions } from './service-options.ts'

export type OpenServicesOptions = ServiceOptions & {
  /** Remembers which work in the background fails. */
  works: WorkWatch
  isStopping: () => boolean
  /** The server that uses them, once there is one. */
  listener: () => FastifyInstance | undefined
}

/** Open services, with the functions that start and close them. */
export type OpenServices = {
  readonly services: Services
  readonly authority: Authority
  /** Starts the background workers. */
  work(): Promise<void>
  /** Measures and counts nothing more. */
  pause(): void
  /** Closes everything but the database, once no request needs it. */
  close(): Promise<void>
}

export async function openServices(options: OpenServicesOptions): Promise<OpenServices> {
  const { db, secrets, logger, config, worker, works, isStopping, listener } = options
  const share = worker ?? wholeMachine
  const bus = await openBusOf(options)
  const egress = await openEgress(options, () => listener()?.server.address())
  const fetchTools = fetchToolsInProcess(listener)
  const { usage, tileUse, ...counting } = openUsage(options)
  const agents = await openAgents({ ...options, ...counting, share, stream: egress.stream, bus, fetchTools })
  const { authority, ...credentials } = openAuthority(options, share, egress)
  const styleCheck = createStyleCheck()
  const memoryThreads = createMemoryThreads(share)
  const data = createData({ ...options, ...counting, share, egress, memoryThreads })
  const onError = (error: unknown) => logger.error({ err: error }, 'job failed')
  const jobs = createJobs({ db, onError, watch: () => works.part('jobs') })
  const { tiling, ...maps } = await createMaps({ db, config, share, ...data, fetch: egress.fetch, jobs, onError })
  const watching = { onError, onStatus: (id: string) => worker?.tellUpload(id), watch: () => works.part('uploads') }
  const uploading = createUploading({ db, ...data, tiling, files: maps.files, config, share, ...watching })
  const { webhooks, close: closeMessages, ...messages } = createMessages({ ...options, ...counting, ...data, egress })
  const metrics = openMetrics(options, gaugesOf({ agents, tiling, ...data }), usage)
  const health = openHealth(options, bus)
  const upkeep = startUpkeep(options, authority, credentials.audit)
  const generations = createGenerations()
  const base: BaseServices = { db, secrets, generations, storeOf: (title) => storeOf(services, title) }
  const services: Services = {
    ...base,
    ...authority,
    ...credentials,
    ...data,
    ...maps,
    ...messages,
    ...health,
    ...installedServices(options, share),
    ...databaseServices(options),
    ...rememberedRecords(base, data),
    ...openTiles(base, tilesOptionsOf(options, tiling, tileUse, base)),
    ...internalCalls(() => services),
    agents,
    metrics,
    usage,
    lanes: tiling.workers.lanes,
    styleCheck,
    isStopping,
    uploading: announcing(uploading, worker),
    places: placesOf(options, egress),
    hasUnplacedRows: createUnplacedCheck(tiling.context.data.version),
  }
  const starter = starterOf(options, { jobs, uploads: uploading, webhooks: webhooks })
  worker?.onUpload((changed) => (changed === undefined ? uploading.announce() : uploading.heard(changed)))
  return {
    services,
    authority,
    work: starter.start,
    pause() {
      for (const { close } of [starter, data.changeFeed, metrics, health.storage]) void close()
      upkeep.pause()
    },
    async close() {
      authority.revocation.close()
      for (const close of [bus.close, closeMessages, uploading.close, jobs.close]) await close()
      for (const { close } of [messages.mailer, data.exports.files]) close()
      await Promise.all([styleCheck.close(), memoryThreads.close(), data.exports.threads.close(), tiling.close()])
      await Promise.all([data.connections.close(), egress.close(), maps.files.close()])
      await Promise.all([upkeep.flush(), usage.close()])
    },
  }
}

const storeOf = createStores(resources)

type Startable = Readonly<Record<string, { start(): Promise<void> }>>

const starterOf = ({ works, logger }: OpenServicesOptions, parts: Startable): Starter =>
  createStarter(parts, works, (error, name) => logger.error({ err: error }, `${name} were not started`))

const openBusOf = ({ config, worker, secrets, logger }: OpenServicesOptions): Promise<Bus> =>
  openBus({
    url: config.NATS_URL,
    port: worker?.bus,
    namespace: secrets.fingerprint,
    onError: (error) => logger.warn({ err: error }, 'message bus failed'),
  })

/** So long the worker that received a file has the first turn: its process for reading is already started. */
const headStartMs = 100

/** A new upload is announced to the other workers too: one of them may have room for it. */
const announcing = (uploading: Uploading, worker: ClusterWorker | undefined): Uploading => ({
  ...uploading,
  announce() {
    uploading.announce()
    setTimeout(() => worker?.tellUpload(), uploading.readsFiles ? headStartMs : 0).unref()
  },
})

/** `listening` is the server's own address, once it listens. */
async function openEgress(
  { config, db, telemetry }: OpenServicesOptions,
  listening: () => AddressInfo | string | null | undefined,
): Promise<Egress> {
  const mayReachLoopback = await isLaptop(config, db.kind)
  const egress = createEgress({
    allow: config.EGRESS_ALLOW,
    mayReachLoopback,
    denied: deniedServicesOf(config, listening),
  })
  return telemetry?.egress(egress) ?? egress
}

const openMetrics = ({ config, about, worker }: OpenServicesOptions, gauges: Gauges, usage: Tallies): Metrics =>
  createMetrics(gauges, about.version.tag, worker?.metrics, applicationMetrics(usage, config.METRICS_APPLICATIONS))

type Gauged = { agents: Agents; slots: StreamSlots; tiling: Tiling; changeFeed: ChangeFeed }

/** Gauges: values that are read when they are scraped. */
const gaugesOf = ({ agents, slots, tiling, changeFeed }: Gauged): Gauges => ({
  ...changeGauges(changeFeed),
  agent_invocations_in_flight: { help: 'Invocations of agents that are under way', read: () => agents.inFlight() },
  agent_workers: { help: 'Workers that are connected here', read: () => [...agents.workers.connections()].length },
  query_streams: { help: 'Queries of datasets that are running or being read', read: () => slots.taken },
  tile_cache_bytes: { help: 'Memory that tiles take', read: () => tiling.cache.bytes },
  tiles_in_the_making: { help: 'Tiles that are being made', read: () => tiling.workers.pending },
})

type MessageParts = Omit<ServiceOptions, 'about'> & { works: WorkWatch; egress: Egress } & Pick<
    OpenUsage,
    'onDelivered'
  > &
  Pick<Services, 'sources' | 'slots'>

/** Mail and messages to contact points, also of changes: outbox rows that are sent in the background. */
function createMessages({ db, works, secrets, logger, config, egress, onDelivered, sources, slots }: MessageParts) {
  const onError = (error: unknown) => logger.warn({ err: error }, 'sending mail and messages failed')
  const outbox = createOutbox({ db, onError, onDelivered, watch: () => works.part('messages') })
  const register = outbox.add
  const mailer = createMailer({ db, secrets, smtpUrl: config.SMTP_URL, from: config.MAIL_FROM, register })
  const perMinute = config.MESSAGES_PER_MINUTE
  const deliveries = createDeliveries({ db, secrets, egress, sendMail: mailer.deliver, register, perMinute })
  outbox.start()
  const webhooks = createWebhooks({ db, deliveries, sources, slots, onError, watch: () => works.part('webhooks') })
  return { mailer, deliveries, webhooks, close: () => webhooks.close().then(outbox.close) }
}
