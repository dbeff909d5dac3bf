import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ApiError } from './api-error.ts'
import { type ChangeStreamState, createChangeStream, type Watch } from './change-stream.ts'
import { createClient } from './client.ts'
import type { DatasetEvent } from './watch.ts'

type Options = Parameters<Watch>[0]

const ready: DatasetEvent = { type: 'ready', resumed: false }
const change = (id: string): DatasetEvent => ({
  type: 'change',
  id,
  version: id,
  operations: ['insert'],
  rows: 1,
  keys: [1],
  boxes: [],
})

/** A server whose connections say what the test tells them, and a page that the test hides. */
function stage(t: TestContext) {
  const connections: (Options & { say(event: DatasetEvent): Promise<void>; fail(error: Error): Promise<void> })[] = []
  const watch: Watch = async function* (options) {
    let wake = () => {}
    let error: Error | undefined
    const events: DatasetEvent[] = []
    const tell = async (act: () => void) => {
      act()
      wake()
      await new Promise(setImmediate)
    }
    options.signal.addEventListener('abort', () => wake())
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
      options.signal.throwIfAborted()
      if (error) throw error
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  const page = Object.assign(new EventTarget(), { hidden: false })
  Object.defineProperty(globalThis, 'document', { value: page, configurable: true })
  t.after(() => Reflect.deleteProperty(globalThis, 'document'))
  const hide = (hidden: boolean) => {
    page.hidden = hidden
    page.dispatchEvent(new Event('visibilitychange'))
  }
  const stream = createChangeStream(watch)
  const states: ChangeStreamState['kind'][] = []
  stream.subscribe(() => states.push(stream.getState().kind))
  const last = () => connections.at(-1) ?? assert.fail('no connection')
  return { stream, connections, last, hide, states }
}

const withClock = (t: TestContext) => t.mock.timers.enable({ apis: ['setTimeout'] })
const refusal = (status: number) => new ApiError({ status, code: 'x', message: 'It cannot be followed.' })

test('two that follow a dataset share one connection, which is closed when both have left', async (t) => {
  const { stream, connections, last, states } = stage(t)
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
  const { stream, connections, last, hide } = stage(t)
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
  const { stream, connections, last, hide } = stage(t)
  stream.listen(() => {})
  await last().fail(refusal(409))
  const state = stream.getState()
  assert.ok(state.kind === 'refused' && state.error instanceof ApiError)
  assert.equal(state.error.message, 'It cannot be followed.')
  hide(true)
  t.mock.timers.tick(600_000)
  hide(false)
  assert.equal(connections.length, 1)
})

test('a refusal in the midst of a stream is tried once more, for tokens that can be refreshed', async (t) => {
  const { stream, connections, last } = stage(t)
  stream.listen(() => {})
  await last().say(ready)
  await last().fail(refusal(401))
  assert.deepEqual([connections.length, stream.getState().kind], [2, 'connecting'])
  await last().fail(refusal(401))
  assert.deepEqual([connections.length, stream.getState().kind], [2, 'refused'])
})

test('a server that cannot be reached is asked again, ever more seldom, until it answers', async (t) => {
  withClock(t)
  const { stream, connections, last, states } = stage(t)
  const leave = stream.listen(() => {})
  for (const seconds of [5, 10, 20, 40, 60, 60]) {
    const before = connections.length
    await last().fail(refusal(0))
    const state = stream.getState()
    assert.ok(state.kind === 'connecting' && state.error instanceof ApiError)
    t.mock.timers.tick(seconds * 1_000 - 1)
    assert.equal(connections.length, before)
    t.mock.timers.tick(1)
    await new Promise(setImmediate)
    assert.equal(connections.length, before + 1)
  }
  await last().say(ready)
  last().onDisconnect?.()
  await last().say(ready)
  assert.deepEqual(states, ['connecting', 'live', 'connecting', 'live'], 'one failure is told of all')
  await last().fail(refusal(503))
  leave()
  t.mock.timers.tick(600_000)
  await new Promise(setImmediate)
  assert.equal(last().signal?.aborted, true)
})

test('whoever joins a live stream is told that it is ready, and one that is opened again begins without errors', async (t) => {
  withClock(t)
  const { stream, last } = stage(t)
  const leave = stream.listen(() => {})
  await last().say(ready)
  const seen: DatasetEvent[] = []
  stream.listen((event) => seen.push(event))()
  assert.deepEqual(seen, [ready])
  await last().fail(refusal(0))
  await last().fail(refusal(0))
  leave()
  assert.deepEqual(stream.getState(), { kind: 'connecting' })
})

test('a client has one stream for each dataset and key', () => {
  const { datasets } = createClient('https://host', 'KEY')
  assert.equal(datasets.changeStream('a'), datasets.changeStream('a'))
  assert.notEqual(datasets.changeStream('a'), datasets.changeStream('b'))
  assert.notEqual(datasets.changeStream('a'), datasets.changeStream('a', { apiKey: 'OTHER' }))
})
