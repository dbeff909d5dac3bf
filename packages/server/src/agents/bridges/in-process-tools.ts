import type { FastifyInstance } from 'fastify'
import type { Fetch } from './bridge-package.ts'

/**
 * Fetch for the platform's own bridges, which call its tools by a request without a socket. It is authorized, measured and
 * logged like any other, and the server needs no address at which to reach itself.
 */
export const fetchToolsInProcess =
  (http: () => FastifyInstance | undefined): Fetch =>
  async (_url, { method, headers, body, signal }) => {
    const server = http()
    if (!server) throw new Error('The server has not started.')
    signal.throwIfAborted()
    const {
      statusCode,
      headers: answerHeaders,
      rawPayload,
    } = await server.inject({
      method,
      url: '/api/v1/mcp',
      headers: { ...headers },
      payload: body,
      signal,
    })
    return {
      ok: statusCode === 200,
      status: statusCode,
      headers: {
        get: (name) =>
          answerHeaders[name.toLowerCase()] === undefined ? null : String(answerHeaders[name.toLowerCase()]),
      },
      body: oneChunk(rawPayload),
    }
  }

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
