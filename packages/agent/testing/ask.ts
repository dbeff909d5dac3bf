import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Handler, Invocation } from '../src/invocation.ts'
import type { Finish } from '../src/protocol.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was sent
type Request = { url: string; headers: IncomingHttpHeaders; body: any }

/** A web server for one test, and the requests it got. */
export async function startUpstream(t: TestContext, respond: (response: ServerResponse) => unknown) {
  const requests: Request[] = []
  const server = createServer(async (request, response) => {
    requests.push({ url: request.url ?? '', headers: request.headers, body: await json(request) })
    await respond(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

/** Sends a body in pieces of so many bytes, each in a packet of its own. */
export async function trickle(response: ServerResponse, type: string, text: string, size = 1): Promise<void> {
  response.writeHead(200, { 'content-type': type })
  response.socket?.setNoDelay()
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) {
    response.write(bytes.subarray(at, at + size))
    await setImmediate()
  }
  response.end()
}

export type AnswerSummary = { texts: string[]; text: string; facts: Finish; signs: string[] }

export function invocationOf(more: Partial<Invocation> = {}): {
  invocation: Invocation
  facts: Finish
  signs: string[]
} {
  const facts: Finish = {}
  const signs: string[] = []
  const invocation: Invocation = {
    id: 'i',
    input: 'How far?',
    messages: [],
    conversationId: undefined,
    caller: undefined,
    context: undefined,
    options: {},
    metadata: {},
    mode: 'stream',
    deadline: new Date(),
    tools: undefined,
    traceparent: undefined,
    signal: new AbortController().signal,
    start: () => signs.push('start'),
    progress: () => signs.push('progress'),
    finish: (more) => Object.assign(facts, more),
    ...more,
  }
  return { invocation, facts, signs }
}

/** Lets a handler answer, without a platform. */
export async function ask(handler: Handler, more: Partial<Invocation> = {}): Promise<AnswerSummary> {
  const { invocation, facts, signs } = invocationOf(more)
  const texts = await Array.fromAsync((await handler(invocation)) as AsyncIterable<string>)
  return { texts, text: texts.join(''), facts, signs }
}
