import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { stays, until } from '../../../../testing/until.ts'
import { createEventStream } from './event-stream.ts'

const quiet = { keepaliveMs: 60_000, stalledMs: 60_000, onRoom() {}, onStalled() {} }

test('whatever the texts are, the events arrive as they were sent', async () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(fc.constantFrom('\n', '\r', '\r\n', '\u2028', '\0', 'data: ', 'event: done', ':', '\ud83d', '\ude00', '"'))
      .map((parts) => parts.join('')),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(anyText), async (texts) => {
      const { body, send, end } = createEventStream(quiet)
      for (const one of texts) send('delta', { text: one })
      end('done', {})
      const events: unknown[] = []
      const parser = createParser({ onEvent: ({ event, data }) => void events.push([event, JSON.parse(data)]) })
      parser.feed(await text(body))
      assert.deepEqual(events, [...texts.map((one) => ['delta', { text: one }]), ['done', {}]])
    }),
  )
})

test('a reader that takes nothing makes no room, and is stalled after a while; one that reads makes room again', async () => {
  let rooms = 0
  let stalls = 0
  const { body, send, end } = createEventStream({
    ...quiet,
    stalledMs: 50,
    onRoom: () => {
      rooms += 1
    },
    onStalled: () => {
      stalls += 1
    },
  })
  body.resume()
  await wait(0)
  assert.equal(send('delta', { text: 'x' }), true)
  body.pause()
  assert.equal(send('delta', { text: 'x'.repeat(20_000) }), false)
  await until(() => stalls > 0)
  await stays(() => rooms === 0 && stalls === 1, 100)
  body.resume()
  await until(() => rooms > 0)
  assert.equal(rooms, 1)
  end('done', {})
})

test('a silent stream carries comments, a busy one does not', async () => {
  const { body, send, end } = createEventStream({ ...quiet, keepaliveMs: 1_000 })
  let sent = ''
  body.setEncoding('utf8').on('data', (piece) => {
    sent += piece
  })
  const comments = () => sent.match(/^: keepalive$/gm)?.length ?? 0
  for (let n = 0; n < 15; n++) {
    send('delta', { text: 'x' })
    await wait(100)
  }
  assert.equal(comments(), 0)
  await until(() => comments() >= 2)
  end('done', {})
})
