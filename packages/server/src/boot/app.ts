import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { limitConnections } from '../api/http/connections/connection-limit.ts'
import { createIdleCloser } from '../api/http/connections/idle-connections.ts'
import { stopAccepting } from '../api/http/connections/stop-accepting.ts'
import { hangUpOnStuckReaders } from '../api/http/connections/stuck-readers.ts'
import type { DeclaredOperation } from '../api/http/operation.ts'
import { createServer } from '../api/http/server.ts'
import { createWorkWatch } from '../kernel/concurrency/work-watch.ts'
import { judgeFailure } from '../kernel/db/database-error.ts'
import { operations } from '../operations.ts'
import type { Services } from '../services.ts'
import { openServices } from './open/open-services.ts'
import { trustedProxies } from './open/plain-services.ts'
import type { ServiceOptions } from './open/service-options.ts'

export type App = {
  readonly http: FastifyInstance
  readonly operations: readonly DeclaredOperation[]
  readonly services: Services
  /** Starts the background workers. */
  work(): Promise<void>
  /** Lets clients leave for another process, so that none of their requests fails when this one closes. */
  retire(): Promise<void>
  /**
   * Graceful shutdown: says so to load balancers, for `noticeMs`, then finishes running requests, refuses new ones, and closes
   * everything but the database. With `lateRequests` those that come by open connections are answered for a moment, because
   * their clients cannot know better.
   */
  close(options?: { noticeMs?: number; lateRequests?: boolean }): Promise<void>
}

/** Builds the HTTP server on a database; it does not listen yet. */
export async function createApp(options: ServiceOptions): Promise<App> {
  const { logger, config } = options
  let hasRetired = false
  let hasStopped = false
  let listener: FastifyInstance | undefined
  const isStopping = () => hasStopped
  const isLeaving = () => hasStopped || hasRetired
  const works = createWorkWatch(judgeFailure)
  const open = await openServices({ ...options, works, isStopping, listener: () => listener })
  const { services, authority } = open
  const limits = {
    bodyLimit: config.BODY_LIMIT,
    requestsPerConnection: config.REQUESTS_PER_CONNECTION,
    hstsSubDomains: config.HSTS !== '',
    countAnswer: services.usage.addAnswer,
  }
  const trustProxy = trustedProxies(config)
  const http = await createServer(operations, authority, services, {
    logger,
    trustProxy,
    isStopping: isLeaving,
    audit: services.audit,
    ...limits,
  })
  listener = http
  limitConnections(http.server, config.MAX_CONNECTIONS)
  hangUpOnStuckReaders(http.server, config.STUCK_READER_MS)
  const closeIdle = createIdleCloser(http.server)
  services.agents.attach(http)
  options.telemetry?.watchRequests({ http, operations })
  return {
    http,
    operations,
    services,
    work: open.work,
    async retire() {
      hasRetired = true
      await stopAccepting(http.server)
    },
    async close({ noticeMs = 0, lateRequests = false } = {}) {
      hasStopped = true
      if (noticeMs > 0) await sleep(noticeMs)
      open.pause()
      const closeHttp = async (): Promise<void> => {
        if (lateRequests) await stopAccepting(http.server)
        // A stream that ends now leaves a connection behind that would wait for more requests.
        const sweeping = setInterval(closeIdle, 200)
        await http.close()
        clearInterval(sweeping)
      }
      // At once: the server waits for the streams that agents finish, and agents may still be asked by other replicas.
      await Promise.all([closeHttp(), services.agents.close()])
      await open.close()
    },
  }
}
