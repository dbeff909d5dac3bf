// One database is enough: it needs none.
import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { createListener } from './listener.ts'

test('a listener that reads nothing is cut before it holds more than 256 KiB', () => {
  let resets = 0
  const listener = createListener({ reset: () => resets++ })
  const frame = 'x'.repeat(10_000)
  let sent = 0
  for (; resets === 0 && sent < 1_000; sent++) listener.send(frame)
  assert.equal(resets, 1)
  assert.equal(sent, 27)
  assert.ok(listener.body.destroyed)
  listener.send(frame)
  assert.equal(resets, 1, 'and nothing more is sent')
})

test('a listener that is behind gets nothing more when it is ended, because it may no longer read it', () => {
  let resets = 0
  const listener = createListener({ reset: () => resets++ })
  listener.send('x'.repeat(20_000))
  listener.end('last')
  assert.equal(resets, 1)
  assert.ok(listener.body.destroyed)
})

test('a listener that has ended takes no more, and ends once', async () => {
  const listener = createListener({ reset() {} })
  listener.send('one')
  listener.end('two')
  listener.end('three')
  listener.send('four')
  assert.equal(await text(listener.body), 'onetwo')
})
