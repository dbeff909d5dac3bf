// The bridge to a web service.
import { ProviderError, Reject } from '../errors.ts'
import type { Handler, Invocation } from '../invocation.ts'
import type { Finish } from '../protocol.ts'
import { type ServerSentEvent, serverSentEvents } from './server-sent-events.ts'
import { type Fetch, parseJson, post, providerAnswered, textOf } from './upstream.ts'

export type HttpOptions = { url: string; headers?: Readonly<Record<string, string>>; fetch?: Fetch }

const maxJsonLength = 8 * 1024 * 1024

/**
 * A handler that POSTs the invocation to a web service and answers with its response. The content type decides how it is
 * read: JSON with `text` or `output`; a `text/event-stream` of delta, done and error, as the platform sends it; or plain text.
 */
export function http({ url, headers, fetch }: HttpOptions): Handler {
  return async function* (invocation) {
    const { signal } = invocation
    const response = await post({
      fetch,
      url,
      ...(headers && { headers }),
      body: question(invocation),
      signal,
    })
    const type = response.headers.get('content-type') ?? ''
    const text = textOf(response, signal)
    if (/^text\/event-stream\b/i.test(type)) yield* readEvents(serverSentEvents(text), invocation)
    else if (/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) yield readAnswer(await whole(text), invocation)
    else yield* text
  }
}

const question = (invocation: Invocation) => {
  const { id, input, messages, conversationId, caller, context, options, metadata, mode, tools } = invocation
  return { invocationId: id, input, messages, conversationId, caller, context, options, metadata, mode, tools }
}

async function* readEvents(events: AsyncIterable<ServerSentEvent>, invocation: Invocation): AsyncGenerator<string> {
  for await (const { event, data } of events) {
    if (event === 'start') invocation.start()
    if (event === 'delta') yield textField(parseJson(data), 'text')
    if (event === 'done') return invocation.finish(finishOf(parseJson(data)))
    if (event === 'error') throw eventError(parseJson(data))
  }
  throw new ProviderError('The web service closed the connection before its answer was complete.')
}

function readAnswer(text: string, invocation: Invocation): string {
  const answer = parseJson(text)
  invocation.finish(finishOf(answer))
  return textField(answer, 'text' in answer ? 'text' : 'output')
}

function textField(value: Record<string, unknown>, name: string): string {
  const text = value[name]
  if (typeof text === 'string') return text
  throw new ProviderError('The answer of the web service has no text.', { detail: JSON.stringify(value).slice(0, 200) })
}

/** Not validated here, because the platform validates the fields. */
function finishOf(answer: Record<string, unknown>): Finish {
  const names = ['finishReason', 'model', 'usage', 'artifacts'] as const
  return Object.fromEntries(names.filter((name) => answer[name] != null).map((name) => [name, answer[name]]))
}

function eventError({ statusCode, message, ...rest }: Record<string, unknown>): Error {
  if (statusCode === 400) return new Reject(String(message ?? 'The web service rejected the input.'))
  const status = typeof statusCode === 'number' ? statusCode : 500
  return providerAnswered(status, { detail: JSON.stringify({ message, ...rest }).slice(0, 1_000) })
}

async function whole(chunks: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const chunk of chunks) {
    text += chunk
    if (text.length > maxJsonLength)
      throw new ProviderError('The answer of the web service is larger than 8 MiB, the limit.')
  }
  return text
}
