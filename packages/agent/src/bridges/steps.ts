import { ProviderError } from '../errors.ts'
import type { Invocation } from '../invocation.ts'
import type { Finish } from '../protocol.ts'

/** What one message of a provider's stream says. */
export type Step = {
  text?: string | undefined
  facts?: Finish
  isThinking?: boolean
  /** The answer is whole, though more may be told about it. */
  isComplete?: boolean
  /** Nothing follows that matters. */
  isLast?: boolean
}

/** Answers as the steps say. A stream that ends before its answer is complete was cut, and is never taken for done. */
export async function* follow(steps: AsyncIterable<Step>, invocation: Invocation): AsyncGenerator<string> {
  let isComplete = false
  for await (const step of steps) {
    if (step.facts) invocation.finish(step.facts)
    // A model that thinks aloud may do so for longer than callers wait for a sign.
    if (step.isThinking) invocation.start()
    if (step.text) yield step.text
    else invocation.progress()
    if (step.isLast) return
    isComplete ||= step.isComplete ?? false
  }
  if (!isComplete) throw new ProviderError('The model provider broke off.')
}
