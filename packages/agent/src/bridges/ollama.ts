// The bridge to Ollama.
import type { Handler, Invocation } from '../invocation.ts'
import type { FinishReason } from '../protocol.ts'
import { conversation, modelFor, usageOf } from './conversation.ts'
import { lines } from './lines.ts'
import { piecesOf, type Step, type Turn, type WrittenCall } from './model-turn.ts'
import { answerWithTools, functionsOf, type Offer, type ToolOptions, type ToolUse } from './tool-loop.ts'
import { below, type Fetch, parseJson, providerAnswered } from './upstream.ts'

export type OllamaOptions = ToolOptions & {
  /** @defaultValue http://127.0.0.1:11434 */
  baseUrl?: string
  model?: string
  /** Sent as a bearer token, for an Ollama behind a proxy that requires one. */
  apiKey?: string
  /** The system prompt. */
  system?: string
  fetch?: Fetch
}

type Part = {
  model?: string
  message?: { content?: string; thinking?: string; tool_calls?: unknown }
  done?: boolean
  done_reason?: string
  prompt_eval_count?: number
  eval_count?: number
  error?: string
}

type ChatMessage = { role: string; content: string; [more: string]: unknown }

const finishReasons: Readonly<Record<string, FinishReason>> = { stop: 'stop', length: 'length' }

/** A handler that answers with a model in Ollama. */
export function ollama(options: OllamaOptions = {}): Handler {
  return (invocation) => {
    const { system } = options
    return answerWithTools<ChatMessage>(
      {
        messages: [...(system ? [{ role: 'system', content: system }] : []), ...conversation(invocation)],
        request: (messages, offer) => ({
          fetch: options.fetch,
          url: below(options.baseUrl ?? 'http://127.0.0.1:11434', '/api/chat'),
          ...(options.apiKey && { headers: { authorization: `Bearer ${options.apiKey}` } }),
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

/** Ollama has no `tool_choice`, so calls are prevented by offering no tools. */
function offered(offer: Offer | undefined): object {
  if (!offer?.mayCall) return {}
  return { tools: functionsOf(offer) }
}

const used = ({ text }: Turn, all: readonly ToolUse[]): ChatMessage[] => [
  {
    role: 'assistant',
    content: text,
    tool_calls: all.map(({ call: { name }, input }) => ({ function: { name, arguments: input } })),
  },
  ...all.map(({ call: { name }, result }) => ({ role: 'tool', tool_name: name, content: result.text })),
]

async function* steps(text: AsyncIterable<string>): AsyncGenerator<Step> {
  let calls = 0
  for await (const line of lines(text)) {
    if (line.trim() === '') continue
    const part: Part = parseJson(line)
    const toolCalls = piecesOf(part.message?.tool_calls, (call) => writtenCall(call, calls++))
    yield { ...step(part), toolCalls }
  }
}

/** Ollama sends calls whole, with their arguments as an object. */
function writtenCall({ function: called }: Record<string, unknown>, index: number): WrittenCall {
  const { name, arguments: input = {} } = (called ?? {}) as Record<string, unknown>
  return { index, name, input: JSON.stringify(input) }
}

function step(part: Part): Step {
  if (part.error !== undefined) throw providerAnswered(500, { detail: String(part.error).slice(0, 1_000) })
  return {
    text: part.message?.content,
    isThinking: Boolean(part.message?.thinking),
    ...(part.done && { isLast: true, facts: finishOf(part) }),
  }
}

function request({ model }: OllamaOptions, invocation: Invocation) {
  const { temperature, maxOutputTokens } = invocation.options
  return {
    model: modelFor(model, invocation),
    stream: true,
    options: { temperature, num_predict: maxOutputTokens },
  }
}

const finishOf = ({ model, done_reason = 'stop', prompt_eval_count, eval_count }: Part) => ({
  ...(model && { model }),
  finishReason: finishReasons[done_reason] ?? 'other',
  usage: usageOf({ inputTokens: prompt_eval_count, outputTokens: eval_count }),
})
