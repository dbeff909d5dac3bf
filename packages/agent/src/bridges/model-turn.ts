// A model's turn, assembled from the messages of a provider's stream.
import { ProviderError } from '../errors.ts'
import type { Invocation } from '../invocation.ts'
import type { Finish, Usage } from '../protocol.ts'

/** A fragment of a tool call: models send the id and the name first, then the arguments in parts. */
export type ToolCallPiece = { index: number; id?: string | undefined; name?: string | undefined; input?: string }

/** A tool call in a provider's message. Its fields are not validated. */
export type WrittenCall = { index?: unknown; id?: unknown; name?: unknown; input?: unknown }

/** The fragments in a provider's list of calls; fields of another type count as missing. */
export function piecesOf(
  list: unknown,
  read: (item: Record<string, unknown>) => WrittenCall,
): ToolCallPiece[] | undefined {
  if (!Array.isArray(list)) return undefined
  return list.map((item, position) => {
    const { index, id, name, input } = read(typeof item === 'object' && item !== null ? item : {})
    return {
      index: typeof index === 'number' ? index : position,
      id: typeof id === 'string' ? id : undefined,
      name: typeof name === 'string' ? name : undefined,
      input: typeof input === 'string' ? input : '',
    }
  })
}

/** One message of a provider's stream. */
export type Step = {
  text?: string | undefined
  toolCalls?: readonly ToolCallPiece[] | undefined
  facts?: Finish
  isThinking?: boolean
  /** The answer is complete, but facts about it, such as usage, may follow. */
  isComplete?: boolean
  /** The last message; the rest of the stream is not read. */
  isLast?: boolean
}

/** A call that the model requests. `input` should be JSON, but models make mistakes. */
export type ToolCall = { readonly id: string; readonly name: string; readonly input: string }

/** One turn of the model. */
export type Turn = { readonly text: string; readonly calls: readonly ToolCall[]; readonly facts: Finish }

/** Limits on what a provider can make us buffer. */
const maxCalls = 64
const maxInputLength = 256 * 1024

/**
 * Yields the text of the steps and returns the turn. A stream that ends before the answer is complete is an error, never a
 * short answer. `spent` is the usage of the earlier turns of the same answer.
 */
export async function* follow(
  steps: AsyncIterable<Step>,
  invocation: Invocation,
  spent: Usage = {},
): AsyncGenerator<string, Turn> {
  const calls = collectCalls()
  const facts: Finish = {}
  let text = ''
  let isComplete = false
  for await (const step of steps) {
    if (step.facts) invocation.finish(withUsage(Object.assign(facts, step.facts), spent))
    // Reasoning and tool calls may take longer than the time limit for the first byte of an answer.
    if (step.isThinking || step.toolCalls) invocation.start()
    for (const piece of step.toolCalls ?? []) calls.add(piece)
    if (step.text) {
      text += step.text
      yield step.text
    } else invocation.progress()
    if (step.isLast) return { text, calls: calls.all(), facts }
    isComplete ||= step.isComplete ?? false
  }
  if (!isComplete) throw new ProviderError('The model provider closed the connection before its answer was complete.')
  return { text, calls: calls.all(), facts }
}

function collectCalls() {
  const calls = new Map<number, { id: string; name: string; input: string }>()
  let length = 0
  return {
    add({ index, id = '', name = '', input = '' }: ToolCallPiece): void {
      const call = calls.get(index) ?? { id: '', name: '', input: '' }
      calls.set(index, call)
      call.id ||= id
      call.name ||= name
      call.input += input
      length += id.length + name.length + input.length
      if (calls.size <= maxCalls && length <= maxInputLength) return
      throw new ProviderError('The model asked for too many tools at once.')
    },
    /** Every call gets an id, even if the provider sends none. */
    all: (): ToolCall[] => [...calls.values()].map((call, index) => ({ ...call, id: call.id || `call_${index}` })),
  }
}

const withUsage = (facts: Finish, spent: Usage): Finish =>
  facts.usage ? { ...facts, usage: sum(facts.usage, spent) } : facts

/** Adds the usage of two turns. */
export function sum(one: Usage, other: Usage): Usage {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]) as Set<keyof Usage>
  return Object.fromEntries(Array.from(names, (name) => [name, (one[name] ?? 0) + (other[name] ?? 0)]))
}
