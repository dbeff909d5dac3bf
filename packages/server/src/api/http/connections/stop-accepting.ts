import type { Server } from 'node:http'
import { Server as ListeningServer } from 'node:net'
import { constant, poll } from '../../../kernel/concurrency/retry.ts'

/** In this time a client that is busy sends its next request, and learns from the answer that the connection ends. */
const partingMs = 1_500
/** The longest, for clients with many connections: they learn it of one after the other. */
const longestMs = 10_000
const pauseMs = constant(50)

/**
 * Accepts no more connections, and waits for those that are there to be given up. `close` of an HTTP server also closes idle
 * ones at once, and with them fails the requests that are on their way.
 */
export async function stopAccepting(server: Server): Promise<void> {
  ListeningServer.prototype.close.call(server)
  const begun = performance.now()
  let lastRequest = begun
  const note = (): void => {
    lastRequest = performance.now()
  }
  server.on('request', note)
  const isParting = (): boolean => performance.now() < Math.min(lastRequest + partingMs, begun + longestMs)
  await poll(async () => !isParting() || (await countConnections(server)) === 0 || undefined, { pauseMs })
  server.off('request', note)
}

const countConnections = (server: Server): Promise<number> =>
  new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)))
