import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Agent, get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { FastifyInstance } from 'fastify'

// What tests of answers before the framework share: the same request over a socket and behind the framework.

export type SentAnswer = { status: number; headers: Record<string, unknown>; body: Buffer }

/** Of the connection, or different for each request. */
const ofTheMoment = new Set(['date', 'connection', 'keep-alive', 'x-request-id'])
const lasting = (headers: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofTheMoment.has(name)))

const frameworkChannel = 'tracing:fastify.request.handler:start'

type Headers = Record<string, string>

/** Listens, and counts the requests that the framework handles. */
export async function immediateClient(http: FastifyInstance) {
  const address = await http.listen({ port: 0, host: '127.0.0.1' })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let handled = 0
  const count = (): void => void handled++
  subscribe(frameworkChannel, count)

  async function overSocket(path: string, headers: Headers, method = 'GET'): Promise<SentAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    get(`${address}${path}`, { agent, headers, method }, resolve).on('error', reject)
    const answer = await promise
    return { status: answer.statusCode ?? 0, headers: lasting(answer.headers), body: await buffer(answer) }
  }

  /** And whether the framework did not see it. */
  async function ask(path: string, headers: Headers): Promise<SentAnswer & { isImmediate: boolean }> {
    const before = handled
    const sent = await overSocket(path, headers)
    return { ...sent, isImmediate: handled === before }
  }

  return {
    address,
    overSocket,
    ask,
    /** Asks until the framework does not see it: the first request, and after each second another, loads something. */
    async immediately(path: string, headers: Headers): Promise<SentAnswer> {
      for (let attempt = 0; attempt < 200; attempt++) {
        const { isImmediate, ...sent } = await ask(path, headers)
        if (isImmediate) return sent
      }
      throw new Error(`${path} was always answered by the framework`)
    },
    async throughFramework(path: string, headers: Headers): Promise<SentAnswer> {
      const reply = await http.inject({ method: 'GET', url: path, headers })
      return { status: reply.statusCode, headers: lasting(reply.headers), body: reply.rawPayload }
    },
    close(): void {
      unsubscribe(frameworkChannel, count)
      agent.destroy()
    },
  }
}
