import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export type SunkRequest = { method: string; path: string; headers: IncomingHttpHeaders; body: string }
type SinkAnswer = { status: number; headers?: Record<string, string>; body?: string; afterMs?: number }

export type HttpSink = { readonly url: string; readonly requests: SunkRequest[]; close(): Promise<void> }

/** A web service that keeps what it was sent, and answers as it is told. */
export async function httpSink(
  answer: (request: SunkRequest, count: number) => SinkAnswer | Promise<SinkAnswer> = () => ({
    status: 200,
    body: 'ok',
  }),
): Promise<HttpSink> {
  const requests: SunkRequest[] = []
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    const sunk = { method, path: url, headers, body: await text(request) }
    const { status, headers: extra = {}, body = '', afterMs = 0 } = await answer(sunk, requests.push(sunk))
    setTimeout(() => response.writeHead(status, extra).end(body), afterMs)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
