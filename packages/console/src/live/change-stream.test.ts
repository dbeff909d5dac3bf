import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ApiError, type DatasetEvent } from '@graticule/client'
import { createChangeStream, type LiveState } from './change-stream.ts'
import type { Visibility } from './visibility.ts'

type Watch = Parameters<typeof createChangeStream>[0]['datasets']['watch']
type Options = NonNullable<Parameters<Watch>[1]>

const ready: DatasetEvent = { type: 'ready', resumed: false }
const change = (id: string): DatasetEvent => ({
  ...{ type: 'change', id, version: id, operations: ['insert'], rows: 1, keys: [1], boxes: [] },
})

/** A server whose connections say what the test tells them, and a tab that the test hides. */
function stage() {
  const connections: (Options & { say(event: DatasetEvent): Promise<void>; fail(error: Error): Promise<void> })[] = []
  const watch = async function* (_: string, options: Options) {
    let wake = () => {}
    let error: Error | undefined
    const events: DatasetEvent[] = []
    const tell = async (act: () => void) => {
      act()
      wake()
      await new Promise(setImmediate)
    }
    options.signal?.addEventListener('abort', () => wake())
    connections.push({
      ...options,
      say: (event) => tell(() => events.push(event)),
      fail: (reason) =>
        tell(() => {
          error = reason
        }),
    })
    for (;;) {
      while (events.length > 0) yield events.shift() as DatasetEvent
      options.signal?.throwIfAborted()
      if (error) throw error
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  let isHidden = false
  let tellVisibility = () => {}
  const visibility: Visibility = {
    isHidden: () => isHidden,
    subscribe(listener) {
      tellVisibility = listener
      return () => {
        tellVisibility = () => {}
      }
    },
  }
  const stream = createChangeStream({ datasets: { watch: watch as Watch } }, 'd', visibility)
  const hide = (hidden: boolean) => {
    isHidden = hidden
    tellVisibility()
  }
  const states: LiveState['kind'][] = []
  stream.subscribe(() => states.push(stream.getState().kind))
  const last = () => connections.at(-1) ?? assert.fail('no connection')
  return { stream, connections, last, hide, states }
}

const withClock = (t: TestContext) => t.mock.timers.enable({ apis: ['setTimeout'] })
const refusal = (status: number) => new ApiError({ status, code: 'x', message: 'It cannot be followed.' })

test('two that follow a dataset share one connection, which is closed when both have left', async () => {
  const { stream, connections, last, states } = stage()
  const seen: string[] = []
  const leave = [
    stream.listen(({ type }) => seen.push(`1 ${type}`)),
    stream.listen(({ type }) => seen.push(`2 ${type}`)),
  ]
  await last().say(ready)
  leave[0]?.()
  await last().say(change('a'))
  assert.deepEqual(seen, ['1 ready', '2 ready', '2 change'])
  assert.deepEqual([connections.length, last().signal?.aborted, states], [1, false, ['live']])
  leave[1]?.()
  leave[1]?.()
  assert.equal(last().signal?.aborted, true)
})

test('a stream is closed half a minute after its tab is hidden, and goes on behind the last event when it is shown', async (t) => {
  withClock(t)
  const { stream, connections, last, hide } = stage()
  stream.listen(() => {})
  await last().say(ready)
  await last().say(change('a.1'))
  hide(true)
  t.mock.timers.tick(29_000)
  hide(false)
  t.mock.timers.tick(60_000)
  assert.deepEqual([connections.length, last().signal?.aborted], [1, false])
  hide(true)
  t.mock.timers.tick(30_000)
  assert.deepEqual([last().signal?.aborted, stream.getState().kind], [true, 'paused'])
  hide(false)
  assert.deepEqual([connections.length, last().lastEventId, stream.getState().kind], [2, 'a.1', 'connecting'])
})

test('a dataset that cannot be followed is asked for once, and says why', async (t) => {
  withClock(t)
  const { stream, connections, last, hide } = stage()
  stream.listen(() => {})
  await last().fail(refusal(409))
  assert.deepEqual(stream.getState(), { kind: 'refused', reason: 'It cannot be followed.' })
  hide(true)
  t.mock.timers.tick(600_000)
  hide(false)
  assert.equal(connections.length, 1)
})

test('a refusal in the midst of a stream is tried once more, for tokens that can be refreshed', async () => {
  const { stream, connections, last } = stage()
  stream.listen(() => {})
  await last().say(ready)
  await last().fail(refusal(401))
  assert.deepEqual([connections.length, stream.getState().kind], [2, 'connecting'])
  await last().fail(refusal(401))
  assert.deepEqual([connections.length, stream.getState().kind], [2, 'refused'])
})

test('a server that cannot be reached is asked again, ever more seldom, until it answers', async (t) => {
  withClock(t)
  const { stream, connections, last, states } = stage()
  const leave = stream.listen(() => {})
  for (const seconds of [5, 10, 20, 40, 60, 60]) {
    const before = connections.length
    await last().fail(refusal(0))
    t.mock.timers.tick(seconds * 1_000 - 1)
    assert.equal(connections.length, before)
    t.mock.timers.tick(1)
    await new Promise(setImmediate)
    assert.equal(connections.length, before + 1)
  }
  await last().say(ready)
  last().onDisconnect?.()
  await last().say(ready)
  assert.deepEqual(states, ['live', 'connecting', 'live'])
  await last().fail(refusal(503))
  leave()
  t.mock.timers.tick(600_000)
  await new Promise(setImmediate)
  assert.equal(last().signal?.aborted, true)
})
