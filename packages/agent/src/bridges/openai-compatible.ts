// The bridge to OpenAI's chat completions API, which many other providers implement.
import type { ProviderError } from '../errors.ts'
import type { Handler, Invocation } from '../invocation.ts'
import type { FinishReason, Usage } from '../protocol.ts'
import { conversation, modelFor, usageOf } from './conversation.ts'
import { piecesOf, type Step, type Turn, type WrittenCall } from './model-turn.ts'
import { serverSentEvents } from './server-sent-events.ts'
import { answerWithTools, functionsOf, type Offer, type ToolOptions, type ToolUse } from './tool-loop.ts'
import { below, type Fetch, parseJson, providerAnswered } from './upstream.ts'

export type OpenAiCompatibleOptions = ToolOptions & {
  /** @defaultValue https://api.openai.com/v1 */
  baseUrl?: string
  model?: string
  apiKey?: string
  /** The system prompt. */
  system?: string
  headers?: Readonly<Record<string, string>>
  fetch?: Fetch
}

type Chunk = {
  model?: string
  choices?: { delta?: Delta; finish_reason?: string | null }[]
  usage?: Counts | null
  error?: { message?: string; code?: unknown; status?: unknown } | string
}
type Delta = {
  content?: string | null
  refusal?: string | null
  reasoning_content?: string | null
  reasoning?: unknown
  tool_calls?: unknown
}
type ChatMessage = { role: string; content: string | null; [more: string]: unknown }
type Counts = {
  prompt_tokens?: number
  completion_tokens?: number
  total_tokens?: number
  prompt_tokens_details?: { cached_tokens?: number } | null
  completion_tokens_details?: { reasoning_tokens?: number } | null
}

const defaultBaseUrl = 'https://api.openai.com/v1'
const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content_filter',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
}

/** A handler that answers with a model of OpenAI or of a compatible provider. */
export function openAiCompatible(options: OpenAiCompatibleOptions = {}): Handler {
  return (invocation) => {
    const { system } = options
    return answerWithTools<ChatMessage>(
      {
        messages: [...(system ? [{ role: 'system', content: system }] : []), ...conversation(invocation)],
        request: (messages, offer) => ({
          fetch: options.fetch,
          url: below(options.baseUrl ?? defaultBaseUrl, '/chat/completions'),
          headers: { ...(options.apiKey && { authorization: `Bearer ${options.apiKey}` }), ...options.headers },
          body: { ...request(options, invocation), messages, ...offered(offer) },
        }),
        steps,
        used,
      },
      invocation,
      options,
    )
  }
}

function offered(offer: Offer | undefined): object {
  if (!offer) return {}
  return { tools: functionsOf(offer), ...(!offer.mayCall && { tool_choice: 'none' }) }
}

const used = ({ text }: Turn, all: readonly ToolUse[]): ChatMessage[] => [
  {
    role: 'assistant',
    content: text || null,
    tool_calls: all.map(({ call: { id, name }, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    })),
  },
  ...all.map(({ call: { id }, result }) => ({ role: 'tool', tool_call_id: id, content: result.text })),
]

async function* steps(text: AsyncIterable<string>): AsyncGenerator<Step> {
  for await (const { data } of serverSentEvents(text))
    yield data === '[DONE]' ? { isLast: true } : step(parseJson(data))
}

function step({ model, choices, usage, error }: Chunk): Step {
  if (error) throw streamError(error)
  const { delta, finish_reason: reason } = choices?.[0] ?? {}
  return {
    text: delta?.content || delta?.refusal || undefined,
    toolCalls: piecesOf(delta?.tool_calls, writtenCall),
    isThinking: Boolean(delta?.reasoning_content || delta?.reasoning),
    isComplete: Boolean(reason),
    facts: {
      ...(model && { model }),
      ...(reason && { finishReason: finishReasons[reason] ?? 'other' }),
      ...(usage && { usage: usageFrom(usage) }),
    },
  }
}

function writtenCall({ index, id, function: called }: Record<string, unknown>): WrittenCall {
  const { name, arguments: input } = (called ?? {}) as Record<string, unknown>
  return { index, id, name, input }
}

function request({ baseUrl = defaultBaseUrl, model }: OpenAiCompatibleOptions, invocation: Invocation) {
  const { temperature, maxOutputTokens } = invocation.options
  // OpenAI's newer models refuse the old name; most other providers know only the old one.
  const limit = new URL(baseUrl).hostname === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens'
  return {
    model: modelFor(model, invocation),
    stream: true,
    stream_options: { include_usage: true },
    temperature,
    [limit]: maxOutputTokens,
  }
}

function streamError(error: NonNullable<Chunk['error']>): ProviderError {
  const { code, status } = typeof error === 'string' ? {} : error
  const httpStatus = [status, code].map(Number).find((number) => number >= 400 && number < 600)
  return providerAnswered(httpStatus ?? 500, { detail: JSON.stringify(error).slice(0, 1_000) })
}

const usageFrom = (counts: Counts): Usage =>
  usageOf({
    inputTokens: counts.prompt_tokens,
    outputTokens: counts.completion_tokens,
    totalTokens: counts.total_tokens,
    cachedInputTokens: counts.prompt_tokens_details?.cached_tokens,
    reasoningTokens: counts.completion_tokens_details?.reasoning_tokens,
  })
