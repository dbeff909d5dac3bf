import type { ProviderError } from '../errors.ts'
import type { Handler, Invocation } from '../invocation.ts'
import type { FinishReason, Usage } from '../protocol.ts'
import { conversation, modelFor, usageOf } from './conversation.ts'
import { serverSentEvents } from './server-sent-events.ts'
import { follow, type Step } from './steps.ts'
import { below, type Fetch, parseJson, post, providerAnswered, textOf } from './upstream.ts'

export type AnthropicOptions = {
  /** @defaultValue https://api.anthropic.com */
  baseUrl?: string
  model?: string
  apiKey?: string
  /** What the model is told before all else. */
  system?: string
  /** The longest answer when the caller says nothing. @defaultValue 4096 */
  maxOutputTokens?: number
  fetch?: Fetch
}

type Counts = {
  input_tokens?: number | null
  output_tokens?: number | null
  cache_read_input_tokens?: number | null
  cache_creation_input_tokens?: number | null
}
type StreamEvent = {
  type?: string
  message?: { model?: string; usage?: Counts }
  delta?: { type?: string; text?: string; stop_reason?: string | null }
  usage?: Counts
  error?: { type?: string; message?: string }
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
  tool_use: 'tool_calls',
}
const errorStatuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  timeout_error: 504,
  overloaded_error: 529,
}

/** Answers with a model behind Anthropic's Messages API. */
export function anthropic(options: AnthropicOptions = {}): Handler {
  return async function* (invocation) {
    const { signal } = invocation
    const response = await post({
      fetch: options.fetch,
      url: below(options.baseUrl ?? 'https://api.anthropic.com', '/v1/messages'),
      headers: { 'anthropic-version': '2023-06-01', ...(options.apiKey && { 'x-api-key': options.apiKey }) },
      body: request(options, invocation),
      signal,
    })
    yield* follow(steps(textOf(response, signal)), invocation)
  }
}

async function* steps(text: AsyncIterable<string>): AsyncGenerator<Step> {
  let counts: Counts = {}
  for await (const { data } of serverSentEvents(text)) {
    const event: StreamEvent = parseJson(data)
    counts = { ...counts, ...known(event.message?.usage), ...known(event.usage) }
    yield event.type === 'message_stop' ? { isLast: true, facts: { usage: usageFrom(counts) } } : step(event)
  }
}

function step({ type, message, delta, error }: StreamEvent): Step {
  if (type === 'error') throw streamError(error)
  return {
    text: delta?.type === 'text_delta' ? delta.text : undefined,
    isThinking: delta?.type === 'thinking_delta',
    facts: {
      ...(message?.model && { model: message.model }),
      ...(delta?.stop_reason && { finishReason: finishReasons[delta.stop_reason] ?? 'other' }),
    },
  }
}

function request({ model, system, maxOutputTokens = 4_096 }: AnthropicOptions, invocation: Invocation) {
  const { options } = invocation
  return {
    model: modelFor(model, invocation),
    max_tokens: options.maxOutputTokens ?? maxOutputTokens,
    temperature: options.temperature,
    system,
    messages: conversation(invocation),
    stream: true,
  }
}

/** Later counts replace earlier ones, but not with nothing. */
const known = (counts: Counts | undefined): Counts =>
  Object.fromEntries(Object.entries(counts ?? {}).filter(([, count]) => typeof count === 'number'))

function streamError(error: StreamEvent['error']): ProviderError {
  return providerAnswered(errorStatuses[error?.type ?? ''] ?? 500, { detail: JSON.stringify(error).slice(0, 1_000) })
}

/** Anthropic counts what came from the cache apart. */
function usageFrom(counts: Counts): Usage {
  const { input_tokens: input, cache_read_input_tokens: read, cache_creation_input_tokens: created } = counts
  return usageOf({
    inputTokens: typeof input === 'number' ? input + (read ?? 0) + (created ?? 0) : undefined,
    outputTokens: counts.output_tokens,
    cachedInputTokens: read,
  })
}
