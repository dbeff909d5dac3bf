/** Parses and checks a request body that was written as JSON. */
import type { AgentQuestion } from '@graticule/client'

export const templateQuestion = JSON.stringify(
  { input: 'Which parks are near the river?', context: { zoom: 12 } },
  null,
  2,
)

export function readQuestion(text: string): { body?: AgentQuestion; fault?: string } {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (error) {
    return { fault: `This is not JSON: ${(error as Error).message}.` }
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { fault: 'The request must be an object such as {"input": "Hello"}.' }
  }
  const { input } = body as { input?: unknown }
  if (typeof input !== 'string' || input === '') return { fault: '“input” must be a text that is not empty.' }
  return { body: body as AgentQuestion }
}
