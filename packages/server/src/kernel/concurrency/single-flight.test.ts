import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createSingleFlight } from './single-flight.ts'

const forever = new AbortController().signal

describe('equal questions at the same time', () => {
  test('are asked once, and answered to all', async () => {
    const flights = createSingleFlight<number>()
    let begun = 0
    const { promise, resolve } = Promise.withResolvers<number>()
    const work = () => {
      begun++
      return promise
    }
    const answers = Array.from({ length: 100 }, () => flights.join('a', forever, work))
    const other = flights.join('b', forever, async () => 2)
    resolve(1)
    assert.deepEqual(new Set(await Promise.all(answers)), new Set([1]))
    assert.equal(await other, 2)
    assert.equal(begun, 1)
    assert.equal(await flights.join('a', forever, async () => 3), 3)
  })

  test('fail together, and the next one is asked anew', async () => {
    const flights = createSingleFlight<number>()
    const failing = Array.from({ length: 3 }, () => flights.join('a', forever, () => Promise.reject(new Error('no'))))
    for (const result of await Promise.allSettled(failing)) assert.equal(result.status, 'rejected')
    assert.equal(await flights.join('a', forever, async () => 1), 1)
  })

  test('go on while somebody waits, and end with the last one', async () => {
    const flights = createSingleFlight<number>()
    const { promise } = Promise.withResolvers<number>()
    let ended = 0
    const work = (signal: AbortSignal) => {
      signal.addEventListener('abort', () => ended++)
      return promise
    }
    const readers = [new AbortController(), new AbortController()]
    const waiting = readers.map(({ signal }) => flights.join('a', signal, work))
    readers[0]?.abort(new Error('left'))
    await assert.rejects(waiting[0] ?? Promise.resolve(), /left/)
    assert.equal(ended, 0)
    readers[1]?.abort(new Error('left'))
    await assert.rejects(waiting[1] ?? Promise.resolve(), /left/)
    assert.equal(ended, 1)
    assert.equal(await flights.join('a', forever, async () => 5), 5)
  })

  test('that come after the last reader has left do not get what was given up', async () => {
    const flights = createSingleFlight<string>()
    const leaving = new AbortController()
    const { promise } = Promise.withResolvers<string>()
    const first = flights.join('a', leaving.signal, () => promise)
    leaving.abort(new Error('left'))
    await assert.rejects(first, /left/)
    assert.equal(await flights.join('a', forever, async () => 'new'), 'new')
  })
})
