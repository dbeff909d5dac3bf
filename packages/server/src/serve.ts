import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import type { Logger } from 'pino'
import { startProgress } from '../bin/progress-line.js'
import type { App } from './app.ts'
import { runCommand } from './commands.ts'
import type { Config } from './config.ts'
import { serveControl } from './control.ts'
import { StartError } from './errors.ts'
import { createLogger } from './log.ts'
import { serveMetrics } from './metrics/metrics-port.ts'
import { openPlatform, type Platform } from './platform.ts'
import { trimHeap } from './trim-heap.ts'
import { readVersion } from './version.ts'

/** How long requests that have begun may take once the server is told to stop. */
const drainMs = 25_000

type StartOptions = {
  /** Without the sample that the first start makes. */
  isEmpty: boolean
  /** Somebody is watching. */
  isTerminal: boolean
}

/** Runs the server until `stop`. */
export async function serve(config: Config, stop: AbortSignal, { isEmpty, isTerminal }: StartOptions): Promise<void> {
  const logger = createLogger(config.LOG_LEVEL, undefined, isTerminal)
  const endProgress = startProgress('Starting', { isBrief: true })
  const onError = (error: unknown) => logger.error({ err: error }, 'database failed')
  try {
    const opening = openPlatform(config, onError, { isEmpty })
    // Loading most of the program blocks this thread for 0.5 s: once the embedded database's thread is at work, not before.
    const loading = setImmediate().then(() => import('./app.ts'))
    const platform = await opening
    try {
      await serveOn(platform, await loading, { config, logger, stop, endProgress })
    } finally {
      await platform.db.close()
    }
  } finally {
    endProgress()
  }
  logger.info('stopped')
}

type Program = typeof import('./app.ts')

type Running = { config: Config; logger: Logger; stop: AbortSignal; endProgress(): void }

async function serveOn(
  platform: Platform,
  { createApp }: Program,
  { config, logger, stop, endProgress }: Running,
): Promise<void> {
  const { db, secrets } = platform
  const about = { version: await readVersion() }
  const app = await createApp({ db, secrets, logger, config, about })
  let control: Server | undefined
  let figures: Server | undefined
  try {
    await listen(app, config, logger).catch(explainListen('PORT'))
    if (db.kind === 'embedded') {
      control = await serveControl(config.DATA_DIR, (command) => runCommand(db, secrets, command))
    }
    if (config.METRICS_PORT !== undefined) {
      figures = await serveMetrics(app.metrics, config.METRICS_PORT, config.HOST).catch(explainListen('METRICS_PORT'))
    }
    const working = app.work().catch((error) => logger.error({ err: error }, 'jobs were not started'))
    endProgress()
    console.log(greeting(config, app.http.server.address() as AddressInfo, platform.newMasterKey))
    void working.then(trimHeap)
    if (!stop.aborted) await once(stop, 'abort')
    logger.info('stopping')
  } finally {
    control?.close()
    figures?.close()
    const impatience = setTimeout(() => app.http.server.closeAllConnections(), drainMs)
    await app.close()
    clearTimeout(impatience)
  }
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

function greeting(config: Config, { port }: AddressInfo, newMasterKey: string | undefined): string {
  const shown = ['0.0.0.0', '::'].includes(config.HOST) ? 'localhost' : config.HOST
  const address = config.BASE_URL ?? `http://${shown}:${port}`
  const lines = [
    ['Graticule', address],
    ['Map', `${address}/`],
    ['API', `${address}/api/docs`],
    ['Keys', 'npm start -- keys'],
    ...(newMasterKey ? [['Master key', `${newMasterKey}   (shown only now: keep it)`]] : []),
  ]
  return `\n${lines.map(([name = '', text]) => `  ${name.padEnd(12)}${text}\n`).join('')}`
}
