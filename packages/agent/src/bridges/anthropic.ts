// The bridge to Anthropic's Messages API.
import type { ProviderError } from '../errors.ts'
import type { Handler, Invocation } from '../invocation.ts'
import type { FinishReason, Usage } from '../protocol.ts'
import { conversation, modelFor, usageOf } from './conversation.ts'
import { piecesOf, type Step, type ToolCallPiece, type Turn } from './model-turn.ts'
import { serverSentEvents } from './server-sent-events.ts'
import { answerWithTools, type Offer, type ToolOptions, type ToolUse } from './tool-loop.ts'
import { below, type Fetch, parseJson, providerAnswered } from './upstream.ts'

export type AnthropicOptions = ToolOptions & {
  /** @defaultValue https://api.anthropic.com */
  baseUrl?: string
  model?: string
  apiKey?: string
  /** The system prompt. */
  system?: string
  /** The longest answer, unless the caller sets a limit. @defaultValue 4096 */
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
  index?: number
  message?: { model?: string; usage?: Counts }
  content_block?: { type?: string }
  delta?: { type?: string; text?: string; stop_reason?: string | null }
  usage?: Counts
  error?: { type?: string; message?: string }
}

type ChatMessage = { role: string; content: string | readonly object[] }

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

/** A handler that answers with a model of Anthropic's Messages API. */
export function anthropic(options: AnthropicOptions = {}): Handler {
  return (invocation) =>
    answerWithTools<ChatMessage>(
      {
        messages: conversation(invocation),
        request: (messages, offer) => ({
          fetch: options.fetch,
          url: below(options.baseUrl ?? 'https://api.anthropic.com', '/v1/messages'),
          headers: { 'anthropic-version': '2023-06-01', ...(options.apiKey && { 'x-api-key': options.apiKey }) },
          body: { ...request(options, invocation), messages, ...offered(offer) },
        }),
        steps,
        used,
      },
      invocation,
      options,
    )
}

function offered(offer: Offer | undefined): object {
  if (!offer) return {}
  const tools = offer.specs.map(({ name, description, inputSchema }) => ({
    name,
    description,
    input_schema: inputSchema,
  }))
  return { tools, ...(!offer.mayCall && { tool_choice: { type: 'none' } }) }
}

/** The assistant's turn and the tool results. Text blocks must not be empty. */
const used = ({ text }: Turn, all: readonly ToolUse[]): ChatMessage[] => [
  {
    role: 'assistant',
    content: [
      ...(text.trim() ? [{ type: 'text', text }] : []),
      ...all.map(({ call: { id, name }, input }) => ({ type: 'tool_use', id, name, input })),
    ],
  },
  {
    role: 'user',
    content: all.map(({ call: { id }, result: { text, isError } }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: text,
      ...(isError && { is_error: true }),
    })),
  },
]

async function* steps(text: AsyncIterable<string>): AsyncGenerator<Step> {
  let counts: Counts = {}
  for await (const { data } of serverSentEvents(text)) {
    const event: StreamEvent = parseJson(data)
    counts = { ...counts, ...numericCounts(event.message?.usage), ...numericCounts(event.usage) }
    yield event.type === 'message_stop' ? { isLast: true, facts: { usage: usageFrom(counts) } } : step(event)
  }
}

function step(event: StreamEvent): Step {
  const { type, message, delta, error } = event
  if (type === 'error') throw streamError(error)
  return {
    text: delta?.type === 'text_delta' ? delta.text : undefined,
    toolCalls: pieceOf(event),
    isThinking: delta?.type === 'thinking_delta',
    facts: {
      ...(message?.model && { model: message.model }),
      ...(delta?.stop_reason && { finishReason: finishReasons[delta.stop_reason] ?? 'other' }),
    },
  }
}

/** A tool call starts with its block; its input follows in JSON fragments. */
function pieceOf({ index = 0, content_block: block, delta }: StreamEvent): ToolCallPiece[] | undefined {
  if (block?.type === 'tool_use') return piecesOf([block], ({ id, name }) => ({ index, id, name }))
  if (delta?.type === 'input_json_delta') return piecesOf([delta], (piece) => ({ index, input: piece.partial_json }))
  return undefined
}

function request({ model, system, maxOutputTokens = 4_096 }: AnthropicOptions, invocation: Invocation) {
  const { options } = invocation
  return {
    model: modelFor(model, invocation),
    max_tokens: options.maxOutputTokens ?? maxOutputTokens,
    temperature: options.temperature,
    system,
    stream: true,
  }
}

/** Counts that are numbers: later ones replace earlier ones, but not with null. */
const numericCounts = (counts: Counts | undefined): Counts =>
  Object.fromEntries(Object.entries(counts ?? {}).filter(([, count]) => typeof count === 'number'))

function streamError(error: StreamEvent['error']): ProviderError {
  return providerAnswered(errorStatuses[error?.type ?? ''] ?? 500, { detail: JSON.stringify(error).slice(0, 1_000) })
}

/** Anthropic counts cached tokens separately. */
function usageFrom(counts: Counts): Usage {
  const { input_tokens: input, cache_read_input_tokens: read, cache_creation_input_tokens: created } = counts
  return usageOf({
    inputTokens: typeof input === 'number' ? input + (read ?? 0) + (created ?? 0) : undefined,
    outputTokens: counts.output_tokens,
    cachedInputTokens: read,
  })
}
