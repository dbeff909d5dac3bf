// The parts of a chat request that all models share.
import type { Invocation } from '../invocation.ts'
import type { Message, Usage } from '../protocol.ts'

/** The messages for a chat model: the earlier turns, then the input with the caller's context. */
export function conversation({ messages, input, context }: Invocation): Message[] {
  const content = context ? `${input}\n\n<context>${JSON.stringify(context)}</context>` : input
  return [...messages, { role: 'user', content }]
}

/** The operator's model; the caller may choose one only if the operator did not. */
export function modelFor(configured: string | undefined, { options }: Invocation): string {
  const model = configured ?? options.model
  if (model === undefined)
    throw new TypeError('No model is set. Give the bridge a model, or let callers send options.model.')
  return model
}

/** Usage without the counts that are missing or invalid. */
export function usageOf(counts: { [Name in keyof Usage]: unknown }): Usage {
  const validCounts = Object.entries(counts).filter(([, count]) => typeof count === 'number' && count >= 0)
  const usage: Usage = Object.fromEntries(validCounts)
  const { inputTokens, outputTokens, totalTokens } = usage
  if (totalTokens !== undefined || inputTokens === undefined || outputTokens === undefined) return usage
  return { ...usage, totalTokens: inputTokens + outputTokens }
}
