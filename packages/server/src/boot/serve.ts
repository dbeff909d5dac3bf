import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import type { Logger } from 'pino'
import { startProgress } from '../../bin/progress-line.js'
import { serveMetrics } from '../api/metrics/metrics-port.ts'
import { isLaptop } from '../kernel/egress/denied-services.ts'
import { StartError } from '../kernel/errors.ts'
import type { Config } from '../kernel/settings/config.ts'
import { endLinksOfEarlierStart } from '../tenants/apikeys/sign-in-link.ts'
import type { App } from './app.ts'
import type { ClusterWorker } from './cluster/cluster-worker.ts'
import { isBeside } from './cluster/count-workers.ts'
import { shareOf } from './cluster/share.ts'
import { runCommand } from './commands/commands.ts'
import { serveControlSocket } from './commands/control-socket.ts'
import { openPlatform, type Platform } from './platform.ts'
import { consoleAddress, createConsoleLink, serverAddress } from './start/console-link.ts'
import { createLogger } from './start/log.ts'
import { keepTickShape } from './start/tick-shape.ts'
import { trimHeap } from './start/trim-heap.ts'
import { readVersion } from './start/version.ts'
import type { Telemetry } from './telemetry/telemetry.ts'

/** How long running requests may take once the server is told to stop. */
const drainMs = 25_000

export type ProcessRunOptions = {
  /** The output is a terminal. */
  readonly isTerminal: boolean
  /** This process as one of several workers. */
  readonly worker: ClusterWorker | undefined
}

type StartOptions = ProcessRunOptions & {
  /** Without the sample data of the first start. */
  readonly isEmpty: boolean
}

/** Runs the server until `stop`. */
export async function serve(
  settings: Config,
  stop: AbortSignal,
  { isEmpty, isTerminal, worker }: StartOptions,
): Promise<void> {
  keepTickShape()
  const config = shareOf(settings, worker)
  const logger = createLogger(config.LOG_LEVEL, undefined, isTerminal, worker && { worker: worker.number })
  const endProgress = startProgress('Starting', { isBrief: true })
  const onError = (error: unknown) => logger.error({ err: error }, 'database failed')
  try {
    const opening = openPlatform(config, onError, { isEmpty })
    // Loading most of the program blocks this thread for 0.5 s: once the embedded database's thread is at work, not before.
    const loading = setImmediate().then(() => import('./app.ts'))
    const platform = await opening
    const telemetry = await openTelemetry(config, logger, worker)
    try {
      await serveOn(platform, await loading, { config, logger, stop, endProgress, worker, isTerminal, telemetry })
    } finally {
      await telemetry?.close()
      await platform.db.close()
    }
  } finally {
    endProgress()
  }
  logger.info('stopped')
}

type Program = typeof import('./app.ts')

type ServerParts = {
  config: Config
  logger: Logger
  stop: AbortSignal
  worker: ClusterWorker | undefined
  isTerminal: boolean
  telemetry: Telemetry | undefined
  endProgress(): void
}

async function serveOn(
  platform: Platform,
  { createApp }: Program,
  { config, logger, stop, worker, isTerminal, telemetry, endProgress }: ServerParts,
): Promise<void> {
  const { db, secrets } = platform
  const about = { version: await readVersion() }
  const app = await createApp({ db: telemetry?.db(db) ?? db, secrets, logger, config, about, worker, telemetry })
  await telemetry?.exportMetrics(app.services.metrics.values)
  let control: Server | undefined
  let metricsServer: Server | undefined
  try {
    await app.services.readiness.settle()
    await listen(app, config, logger).catch(explainListen('PORT'))
    const address = serverAddress(config, (app.http.server.address() as AddressInfo).port)
    if (db.kind === 'embedded') {
      const parts = { db, secrets, address, directory: config.DATA_DIR }
      control = await serveControlSocket(config.DATA_DIR, (command) => runCommand(parts, command))
    }
    if (config.METRICS_PORT !== undefined) {
      metricsServer = await serveMetrics(app.services.metrics, config.METRICS_PORT, config.HOST).catch(
        explainListen('METRICS_PORT'),
      )
    }
    const working = app.work()
    if (!worker || worker.isFirst) {
      const link = await consoleLink(platform, config, address)
      endProgress()
      console.log(
        greeting(address, link, { newMasterKey: platform.newMasterKey, workers: workersText(config, worker) }),
      )
    }
    worker?.ready()
    void working.then(trimHeap)
    const ending = worker ? AbortSignal.any([stop, worker.retired]) : stop
    if (!ending.aborted) await once(ending, 'abort')
    logger.info('stopping')
    if (!stop.aborted) await app.retire()
  } finally {
    control?.close()
    metricsServer?.close()
    // Nobody balances load to a process that another one replaces.
    const noticeMs = stop.aborted ? config.STOP_NOTICE_SECONDS * 1000 : 0
    const drainTimer = setTimeout(() => app.http.server.closeAllConnections(), noticeMs + drainMs)
    // Who presses Ctrl-C on a terminal waits for nobody.
    await app.close({ noticeMs, lateRequests: stop.aborted && !isTerminal })
    clearTimeout(drainTimer)
  }
}

/** Nothing of it is loaded unless it is asked for. */
async function openTelemetry(
  { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: disabled }: Config,
  logger: Logger,
  worker: ClusterWorker | undefined,
): Promise<Telemetry | undefined> {
  if (endpoint === undefined || disabled.toLowerCase() === 'true') return undefined
  const { startTelemetry } = await import('./telemetry/telemetry.ts')
  const onFailure = (reason: string) => logger.warn({ reason }, 'traces or metrics were not exported')
  return startTelemetry({ version: (await readVersion()).tag, worker: worker?.number, onFailure })
}

/** Fastify logs where it listens, which the greeting says as well. */
async function listen({ http }: App, { PORT: port, HOST: host }: Config, logger: Logger): Promise<void> {
  const { level } = logger
  if (logger.isLevelEnabled('info')) logger.level = 'warn'
  try {
    await http.listen({ port, host })
  } finally {
    logger.level = level
  }
}

const explainListen =
  (setting: string) =>
  (error: NodeJS.ErrnoException): never => {
    if (error.code === 'EADDRINUSE') throw new StartError(`${error.message}. Set ${setting} to another port.`)
    throw error
  }

/** On a laptop whoever sees the greeting may sign in with it; elsewhere it ends up in the logs of a cluster. */
async function consoleLink({ db }: Platform, config: Config, address: string): Promise<string> {
  if (db.kind === 'embedded') await endLinksOfEarlierStart(db)
  const mayShow = await isLaptop(config, db.kind)
  const link = mayShow ? await createConsoleLink(db, address, { endsAtRestart: true }) : undefined
  return link ? `${link}   (signs you in, once, within an hour)` : consoleAddress(address)
}

/** Where the number was chosen, and why. */
function workersText({ database, WORKERS: wanted }: Config, worker: ClusterWorker | undefined): string | undefined {
  if (!database || wanted !== undefined) return undefined
  const cores = availableParallelism()
  const why = isBeside(database) ? `${cores} cores, which PostgreSQL uses too` : `${cores} cores`
  return `${worker?.count ?? 1}   (of ${why}; WORKERS sets another number)`
}

type StartFacts = { readonly newMasterKey: string | undefined; readonly workers: string | undefined }

function greeting(address: string, link: string, { newMasterKey, workers }: StartFacts): string {
  const lines = [
    ['Graticule', address],
    ['Console', link],
    ['API', `${address}/api/docs`],
    ['Keys', 'npm start -- keys'],
    ...(workers ? [['Workers', workers]] : []),
    ...(newMasterKey ? [['Master key', `${newMasterKey}   (shown only now: keep it)`]] : []),
  ]
  return `\n${lines.map(([name = '', text]) => `  ${name.padEnd(12)}${text}\n`).join('')}`
}
