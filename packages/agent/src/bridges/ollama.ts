import type { Handler, Invocation } from '../invocation.ts'
import type { FinishReason } from '../protocol.ts'
import { conversation, modelFor, usageOf } from './conversation.ts'
import { lines } from './lines.ts'
import { follow, type Step } from './steps.ts'
import { below, type Fetch, parseJson, post, providerAnswered, textOf } from './upstream.ts'

export type OllamaOptions = {
  /** @defaultValue http://127.0.0.1:11434 */
  baseUrl?: string
  model?: string
  /** For Ollama behind something that asks for one. */
  apiKey?: string
  /** What the model is told before all else. */
  system?: string
  fetch?: Fetch
}

type Part = {
  model?: string
  message?: { content?: string; thinking?: string }
  done?: boolean
  done_reason?: string
  prompt_eval_count?: number
  eval_count?: number
  error?: string
}

const finishReasons: Readonly<Record<string, FinishReason>> = { stop: 'stop', length: 'length' }

/** Answers with a model that Ollama runs. */
export function ollama(options: OllamaOptions = {}): Handler {
  return async function* (invocation) {
    const { signal } = invocation
    const response = await post({
      fetch: options.fetch,
      url: below(options.baseUrl ?? 'http://127.0.0.1:11434', '/api/chat'),
      ...(options.apiKey && { headers: { authorization: `Bearer ${options.apiKey}` } }),
      body: request(options, invocation),
      signal,
    })
    yield* follow(steps(textOf(response, signal)), invocation)
  }
}

async function* steps(text: AsyncIterable<string>): AsyncGenerator<Step> {
  for await (const line of lines(text)) if (line.trim() !== '') yield step(parseJson(line))
}

function step(part: Part): Step {
  if (part.error !== undefined) throw providerAnswered(500, { detail: String(part.error).slice(0, 1_000) })
  return {
    text: part.message?.content,
    isThinking: Boolean(part.message?.thinking),
    ...(part.done && { isLast: true, facts: finishOf(part) }),
  }
}

function request({ model, system }: OllamaOptions, invocation: Invocation) {
  const { temperature, maxOutputTokens } = invocation.options
  return {
    model: modelFor(model, invocation),
    messages: [...(system ? [{ role: 'system', content: system }] : []), ...conversation(invocation)],
    stream: true,
    options: { temperature, num_predict: maxOutputTokens },
  }
}

const finishOf = ({ model, done_reason = 'stop', prompt_eval_count, eval_count }: Part) => ({
  ...(model && { model }),
  finishReason: finishReasons[done_reason] ?? 'other',
  usage: usageOf({ inputTokens: prompt_eval_count, outputTokens: eval_count }),
})
