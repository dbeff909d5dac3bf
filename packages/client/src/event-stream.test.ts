import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { readEvents, type StreamedEvent } from './event-stream.ts'

async function* inPieces(text: string, sizes: readonly number[]): AsyncGenerator<string, void> {
  let at = 0
  for (let index = 0; at < text.length; index++) {
    const size = Math.max(1, sizes[index % sizes.length] ?? 1)
    yield text.slice(at, at + size)
    at += size
  }
}

/** What a parser of many makes of it. */
function expected(text: string): StreamedEvent[] {
  const events: StreamedEvent[] = []
  const parser = createParser({ onEvent: ({ event = 'message', data }) => void events.push({ event, data }) })
  parser.feed(text)
  return events
}

describe('events of a stream', () => {
  test('are those that the standard says, wherever the text is cut', async () => {
    const line = fc.constantFrom(
      'event: a',
      'event:b',
      'data: x',
      'data:y',
      'data',
      'data:  z:1',
      ': comment',
      'id: 1',
      '',
    )
    const end = fc.constantFrom('\n', '\r\n', '\r')
    await fc.assert(
      fc.asyncProperty(
        fc.array(line),
        end,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        async (lines, lineEnd, sizes) => {
          // A line that says something ends it, so that no CR waits for what may follow.
          const text = `${[...lines, '', 'data: last', '', ': end'].join(lineEnd)}`
          assert.deepEqual(await Array.fromAsync(readEvents(inPieces(text, sizes))), expected(text))
        },
      ),
    )
  })

  test('are not given before they are whole', async () => {
    assert.deepEqual(await Array.fromAsync(readEvents(inPieces('data: a\n\ndata: b\n', [4]))), [
      { event: 'message', data: 'a' },
    ])
  })
})
