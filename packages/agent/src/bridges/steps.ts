import { ProviderError } from '../errors.ts'
import type { Invocation } from '../invocation.ts'
import type { Finish, Usage } from '../protocol.ts'

/** A piece of a call: models send the id and the name first, then the arguments bit by bit. */
export type ToolCallPiece = { index: number; id?: string | undefined; name?: string | undefined; input?: string }

/** A call as a provider has it: of no field is it sure what it is. */
export type WrittenCall = { index?: unknown; id?: unknown; name?: unknown; input?: unknown }

/** The pieces of a list of calls, whatever a provider has put into it. */
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

/** What one message of a provider's stream says. */
export type Step = {
  text?: string | undefined
  toolCalls?: readonly ToolCallPiece[] | undefined
  facts?: Finish
  isThinking?: boolean
  /** The answer is whole, though more may be told about it. */
  isComplete?: boolean
  /** Nothing follows that matters. */
  isLast?: boolean
}

/** A tool that the model wants to use. `input` is JSON, or what the model takes for it. */
export type ToolCall = { readonly id: string; readonly name: string; readonly input: string }

/** What the model said in one go. */
export type Turn = { readonly text: string; readonly calls: readonly ToolCall[]; readonly facts: Finish }

/** More is no question any more: whoever sends it would fill our memory. */
const maxCalls = 64
const maxInputLength = 256 * 1024

/**
 * Answers as the steps say. A stream that ends before its answer is complete was cut, and is never taken for done.
 * `spent` is what earlier turns of the same answer have cost.
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
    // A model that thinks aloud, or asks for tools, may do so for longer than callers wait for a sign.
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
    /** Each with an id, also where the provider gives none. */
    all: (): ToolCall[] => [...calls.values()].map((call, index) => ({ ...call, id: call.id || `call_${index}` })),
  }
}

const withUsage = (facts: Finish, spent: Usage): Finish =>
  facts.usage ? { ...facts, usage: sum(facts.usage, spent) } : facts

/** What two turns have cost together. */
export function sum(one: Usage, other: Usage): Usage {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]) as Set<keyof Usage>
  return Object.fromEntries(Array.from(names, (name) => [name, (one[name] ?? 0) + (other[name] ?? 0)]))
}
