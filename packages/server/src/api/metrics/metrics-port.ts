import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { Metrics } from './metrics.ts'
import { metricsPath } from './metrics-operations.ts'

/** Metrics on a port of their own, without a key, for a private network. */
export async function serveMetrics(metrics: Metrics, port: number, host: string): Promise<Server> {
  // The first read starts the counting, so with an open port it starts now.
  await metrics.read()
  const server = createServer(async ({ method, url }, response) => {
    if ((method !== 'GET' && method !== 'HEAD') || url?.split('?', 1)[0] !== metricsPath) {
      return void response.writeHead(404).end()
    }
    try {
      const { contentType, text } = await metrics.read()
      response.writeHead(200, { 'content-type': contentType }).end(method === 'HEAD' ? undefined : text)
    } catch {
      response.writeHead(500).end()
    }
  })
  server.listen(port, host)
  await once(server, 'listening')
  return server
}
