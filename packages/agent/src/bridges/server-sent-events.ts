import { createParser } from 'eventsource-parser'
import { ProviderError } from '../errors.ts'

export type ServerSentEvent = { event: string; data: string }

const maxEventLength = 8 * 1024 * 1024

/** Parses a `text/event-stream` (WHATWG HTML, 9.2). An event without its terminating empty line is dropped. */
export async function* serverSentEvents(chunks: AsyncIterable<string>): AsyncGenerator<ServerSentEvent> {
  const events: ServerSentEvent[] = []
  const parser = createParser({
    maxBufferSize: maxEventLength,
    onEvent: ({ event = 'message', data }) => void events.push({ event, data }),
    onError(error) {
      // Other errors are unknown fields, which the standard says to ignore.
      if (error.type === 'max-buffer-size-exceeded')
        throw new ProviderError('The provider sent an event that is too long.')
    },
  })
  for await (const chunk of chunks) {
    parser.feed(chunk)
    yield* events.splice(0)
  }
}
