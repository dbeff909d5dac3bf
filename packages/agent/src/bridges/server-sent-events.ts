import { createParser } from 'eventsource-parser'
import { ProviderError } from '../errors.ts'
import { nextTurn, piecesOfText, turnTimer } from './event-loop.ts'

export type ServerSentEvent = { event: string; data: string }

const maxEventLength = 8 * 1024 * 1024
/** Of lines that are no field of an event. A stream of something else has nothing but such lines. */
const maxUnknownLines = 1_000

/** Parses a `text/event-stream` (WHATWG HTML, 9.2). An event without its terminating empty line is dropped. */
export async function* serverSentEvents(chunks: AsyncIterable<string>): AsyncGenerator<ServerSentEvent> {
  const events: ServerSentEvent[] = []
  const isOver = turnTimer()
  let unknownLines = 0
  const parser = createParser({
    maxBufferSize: maxEventLength,
    onEvent: ({ event = 'message', data }) => void events.push({ event, data }),
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded')
        throw new ProviderError('The provider sent an event that is too long.')
      // The standard says to ignore unknown fields; each takes nine microseconds.
      if (++unknownLines > maxUnknownLines) throw new ProviderError('The answer of the provider is no event stream.')
    },
  })
  for await (const chunk of chunks) {
    for (const piece of piecesOfText(chunk)) {
      parser.feed(piece)
      if (isOver()) await nextTurn()
      for (const event of events.splice(0)) {
        yield event
        if (isOver()) await nextTurn()
      }
    }
  }
}
