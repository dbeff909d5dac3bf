import { ProviderError } from '../errors.ts'
import { lines } from './lines.ts'

export type ServerSentEvent = { event: string; data: string }

const maxDataLength = 8 * 1024 * 1024

/** The events of a `text/event-stream`, as the WHATWG reads it: an event that is not ended by an empty line is none. */
export async function* serverSentEvents(chunks: AsyncIterable<string>): AsyncGenerator<ServerSentEvent> {
  let event = ''
  let data: string[] = []
  let length = 0
  for await (const line of lines(chunks)) {
    if (line === '') {
      if (data.length > 0) yield { event: event || 'message', data: data.join('\n') }
      event = ''
      data = []
      length = 0
      continue
    }
    const { name, value } = field(line)
    if (name === 'event') event = value
    if (name !== 'data') continue
    length += value.length + 1
    if (length > maxDataLength) throw new ProviderError('The provider sent an event that is too long.')
    data.push(value)
  }
}

function field(line: string): { name: string; value: string } {
  const colon = line.indexOf(':')
  if (colon < 0) return { name: line, value: '' }
  return { name: line.slice(0, colon), value: line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1) }
}
