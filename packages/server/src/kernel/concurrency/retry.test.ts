import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { constant, doubling, jittered, linear, poll, retry } from './retry.ts'

/** Fails so often before it succeeds. */
function failing(times: number, error = new Error('busy')) {
  let calls = 0
  return {
    calls: () => calls,
    work: async (): Promise<string> => {
      if (++calls <= times) throw error
      return 'done'
    },
  }
}

const isPassing = () => true

describe('work that fails', () => {
  test('is tried again until it succeeds, with the pause after each failure', async () => {
    const { work, calls } = failing(3)
    const pauses: number[] = []
    const pauseMs = (failures: number): number => {
      pauses.push(failures)
      return 1
    }
    assert.equal(await retry(work, { tries: 4, pauseMs, isPassing }), 'done')
    assert.equal(calls(), 4)
    assert.deepEqual(pauses, [1, 2, 3])
  })

  test('rejects with its last error after the last try, without a pause', async () => {
    const { work, calls } = failing(9)
    const begun = performance.now()
    await assert.rejects(retry(work, { tries: 1, pauseMs: constant(60_000), isPassing }), /busy/)
    assert.ok(performance.now() - begun < 30_000)
    assert.equal(calls(), 1)
  })

  test('is not tried again when its error does not pass', async () => {
    const { work, calls } = failing(9)
    await assert.rejects(retry(work, { isPassing: () => false }), /busy/)
    assert.equal(calls(), 1)
  })

  test('is not tried again after its time', async () => {
    const { work, calls } = failing(1e9)
    await assert.rejects(retry(work, { withinMs: 30, pauseMs: constant(40), isPassing }), /busy/)
    assert.equal(calls(), 1)
  })

  test('is left at once when the signal ends a pause', async () => {
    const { work, calls } = failing(9)
    const stop = new AbortController()
    const waiting = retry(work, { pauseMs: constant(60_000), signal: stop.signal, isPassing })
    setTimeout(() => stop.abort(), 10)
    await assert.rejects(waiting, { name: 'AbortError' })
    assert.equal(calls(), 1)
  })
})

describe('a question that is polled', () => {
  test('is asked until it has an answer, of which false is one', async () => {
    const answers = [undefined, undefined, false]
    assert.equal(await poll(() => answers.shift(), { tries: 5 }), false)
    assert.deepEqual(answers, [])
  })

  test('has none after the last try', async () => {
    let asked = 0
    assert.equal(await poll(() => void asked++, { tries: 3, pauseMs: constant(1) }), undefined)
    assert.equal(asked, 3)
  })

  test('rejects with what it throws', async () => {
    await assert.rejects(
      poll(() => Promise.reject(new Error('gone')), { tries: 3 }),
      /gone/,
    )
  })
})

test('pauses are constant, grow by the first or double up to the longest, and jitter shortens them', () => {
  const first = (pause: (failures: number) => number) => [1, 2, 3, 4].map(pause)
  assert.deepEqual(first(constant(5)), [5, 5, 5, 5])
  assert.deepEqual(first(linear(5)), [5, 10, 15, 20])
  assert.deepEqual(first(doubling(5, 30)), [5, 10, 20, 30])
  for (const ms of first(jittered(constant(5)))) assert.ok(ms >= 0 && ms < 5)
})
