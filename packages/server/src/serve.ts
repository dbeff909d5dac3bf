import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import type { Logger } from 'pino'
import { createApp } from './app.ts'
import { runCommand } from './commands.ts'
import type { Config } from './config.ts'
import { serveControl } from './control.ts'
import { StartError } from './errors.ts'
import { createLogger } from './log.ts'
import { serveMetrics } from './metrics/metrics-port.ts'
import { openPlatform, type Platform } from './platform.ts'
import { readVersion } from './version.ts'

/** How long requests that have begun may take once the server is told to stop. */
const drainMs = 25_000

/** Runs the server until `stop`. */
export async function serve(config: Config, stop: AbortSignal, start: { isEmpty: boolean }): Promise<void> {
  const logger = createLogger(config.LOG_LEVEL)
  const platform = await openPlatform(config, (error) => logger.error({ err: error }, 'database'), start)
  try {
    await serveOn(platform, config, logger, stop)
  } finally {
    await platform.db.close()
  }
  logger.info('stopped')
}

async function serveOn(platform: Platform, config: Config, logger: Logger, stop: AbortSignal): Promise<void> {
  const { db, secrets } = platform
  const app = await createApp({ db, secrets, logger, config, about: { version: await readVersion() } })
  let control: Server | undefined
  let figures: Server | undefined
  try {
    await app.http.listen({ port: config.PORT, host: config.HOST }).catch(explainListen('PORT'))
    if (db.kind === 'embedded') {
      control = await serveControl(config.DATA_DIR, (command) => runCommand(db, secrets, command))
    }
    if (config.METRICS_PORT !== undefined) {
      figures = await serveMetrics(app.metrics, config.METRICS_PORT, config.HOST).catch(explainListen('METRICS_PORT'))
    }
    app.work().catch((error) => logger.error({ err: error }, 'jobs'))
    console.log(greeting(config, app.http.server.address() as AddressInfo, platform.newMasterKey))
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

const explainListen =
  (setting: string) =>
  (error: NodeJS.ErrnoException): never => {
    if (error.code === 'EADDRINUSE') throw new StartError(`${error.message}. Set ${setting} to another port.`)
    throw error
  }

function greeting(config: Config, { port }: AddressInfo, newMasterKey: string | undefined): string {
  const shown = ['0.0.0.0', '::'].includes(config.HOST) ? 'localhost' : config.HOST
  const address = config.BASE_URL ?? `http://${shown}:${port}`
  const key = newMasterKey
    ? `\n  Master key  ${newMasterKey}   (shown only now: keep it)\n  Other keys  npm start -- keys`
    : ''
  return `\n  Graticule   ${address}\n  API         ${address}/api/docs${key}\n`
}
