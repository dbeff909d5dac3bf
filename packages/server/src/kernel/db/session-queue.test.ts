import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createSessionQueue, type SessionQueue } from './session-queue.ts'

/** Work that begins when its turn has come and ends when the test says so. */
function held(order: string[], name: string) {
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const work = async (): Promise<void> => {
    order.push(name)
    begun.resolve()
    await end.promise
  }
  return { work, begun: begun.promise, end: end.resolve }
}

/** A clock that only the test advances: whose turn it is must not depend on how long a busy machine takes for a step. */
function withClock(t: TestContext) {
  let now = 1_000
  t.mock.timers.enable({ apis: ['setTimeout'] })
  t.mock.method(performance, 'now', () => now)
  return (ms: number): void => {
    now += ms
    t.mock.timers.tick(ms)
  }
}

const note =
  (order: string[], name: string, takes = () => {}) =>
  async (): Promise<void> => {
    order.push(name)
    takes()
  }

/** Gives a tenant a history: it used the session for so long. */
const use = (queue: SessionQueue, tenant: string, takes: () => void): Promise<void> =>
  queue.tenant(tenant, async () => takes())

test('statements share the session, a transaction and a tenant’s query have it alone', async () => {
  const queue = createSessionQueue({ maxWaiting: 10, heavyMs: 2_000 })
  const order: string[] = []
  const [a, b, transaction, query] = ['a', 'b', 'transaction', 'query'].map((name) => held(order, name))
  assert.ok(a && b && transaction && query)
  const all = [
    queue.shared(a.work),
    queue.shared(b.work),
    queue.exclusive(transaction.work),
    queue.tenant('one', query.work),
    queue.shared(note(order, 'later')),
  ]
  await Promise.all([a.begun, b.begun])
  a.end()
  await nextTurn()
  assert.deepEqual(order, ['a', 'b'])
  b.end()
  await transaction.begun
  assert.deepEqual(order, ['a', 'b', 'transaction'])
  transaction.end()
  await query.begun
  assert.deepEqual(order, ['a', 'b', 'transaction', 'later', 'query'])
  query.end()
  await Promise.all(all)
})

test('a failed statement rejects for its caller alone, and the queue goes on', async () => {
  const queue = createSessionQueue({ maxWaiting: 10, heavyMs: 2_000 })
  const failing = async (): Promise<never> => {
    throw new Error('broken')
  }
  await assert.rejects(queue.shared(failing), /broken/)
  await assert.rejects(queue.exclusive(failing), /broken/)
  await assert.rejects(queue.tenant('one', failing), /broken/)
  assert.equal(await queue.shared(async () => 1), 1)
})

test('the tenant that used the least time lately goes next, and the platform before all', async (t) => {
  const pass = withClock(t)
  const queue = createSessionQueue({ maxWaiting: 100, heavyMs: 2_000 })
  await use(queue, 'greedy', () => pass(60))
  await use(queue, 'modest', () => pass(1))
  const order: string[] = []
  const first = held(order, 'first')
  const all = [queue.tenant('greedy', first.work)]
  for (let n = 0; n < 3; n++)
    all.push(
      queue.tenant(
        'greedy',
        note(order, 'greedy', () => pass(5)),
      ),
    )
  all.push(queue.tenant('modest', note(order, 'modest')), queue.shared(note(order, 'platform')))
  await first.begun
  first.end()
  await Promise.all(all)
  assert.deepEqual(order, ['first', 'platform', 'modest', 'greedy', 'greedy', 'greedy'])
})

test('tenants take turns, however many queries each has waiting', async (t) => {
  const pass = withClock(t)
  const queue = createSessionQueue({ maxWaiting: 100, heavyMs: 2_000 })
  await Promise.all([use(queue, 'a', () => pass(1)), use(queue, 'b', () => pass(1))])
  const order: string[] = []
  const first = held(order, 'first')
  const all = [queue.shared(first.work)]
  for (let n = 0; n < 9; n++)
    all.push(
      queue.tenant(
        'a',
        note(order, 'a', () => pass(30)),
      ),
    )
  all.push(queue.tenant('b', note(order, 'b')))
  await first.begun
  first.end()
  await Promise.all(all)
  assert.equal(order.indexOf('b'), 2, order.join(' '))
})

test('the next statement of a request goes before the next query of a tenant that takes long', async (t) => {
  const pass = withClock(t)
  const queue = createSessionQueue({ maxWaiting: 100, heavyMs: 1_000 })
  await use(queue, 'greedy', () => pass(1_100))
  const order: string[] = []
  const first = held(order, 'first')
  const all = [queue.tenant('greedy', first.work), queue.tenant('greedy', note(order, 'greedy'))]
  const request = async (): Promise<void> => {
    queue.noteRequest('modest')
    for (const step of ['key', 'dataset', 'database']) {
      await queue.shared(note(order, step))
      pass(100)
    }
    await queue.tenant('modest', note(order, 'modest'))
    // Until the platform was asked for nothing for so long.
    pass(1_000)
  }
  await first.begun
  all.push(request())
  first.end()
  await Promise.all(all)
  assert.deepEqual(order, ['first', 'key', 'dataset', 'database', 'modest', 'greedy'])
})

test('a tenant that takes long waits for nobody while no other makes requests', async (t) => {
  const pass = withClock(t)
  const queue = createSessionQueue({ maxWaiting: 100, heavyMs: 50 })
  await use(queue, 'greedy', () => pass(100))
  queue.noteRequest('greedy')
  await queue.shared(async () => {})
  // Without a clock that runs, it would wait for ever.
  await queue.tenant('greedy', async () => {})
})

test('the platform keeps a tenant waiting for a second at most, however much it asks', async (t) => {
  const pass = withClock(t)
  const queue = createSessionQueue({ maxWaiting: 100, heavyMs: 2_000 })
  let waitedMs = 0
  let isOver = false
  const busy = Array.from({ length: 3 }, async () => {
    while (!isOver && waitedMs < 10_000) {
      await queue.shared(async () => {
        waitedMs += 20
        pass(20)
      })
    }
  })
  await queue.tenant('one', async () => {})
  isOver = true
  assert.ok(waitedMs >= 1_000 && waitedMs < 1_200, `${waitedMs} ms`)
  await Promise.all(busy)
})

test('the queue of a tenant is bounded, independently of other tenants', async () => {
  const queue = createSessionQueue({ maxWaiting: 2, heavyMs: 2_000 })
  const order: string[] = []
  const first = held(order, 'first')
  const all = [queue.tenant('one', first.work)]
  await first.begun
  all.push(queue.tenant('one', note(order, 'second')), queue.tenant('one', note(order, 'third')))
  await assert.rejects(queue.tenant('one', note(order, 'fourth')), {
    code: 'busy',
    message: /already has 2 queries waiting, its limit/,
    extensions: { limit: 2, limitName: 'queriesWaiting' },
  })
  all.push(queue.tenant('two', note(order, 'other')))
  first.end()
  await Promise.all(all)
  assert.ok(order.includes('other') && !order.includes('fourth'))
})

test('a short query goes before the long ones of its tenant, but not before one that has waited for two seconds', async (t) => {
  const pass = withClock(t)
  const queue = createSessionQueue({ maxWaiting: 10, heavyMs: 10_000 })
  const order: string[] = []
  const first = held(order, 'first')
  const all = [queue.tenant('one', first.work), queue.tenant('one', note(order, 'old'))]
  await first.begun
  pass(2_001)
  all.push(queue.tenant('one', note(order, 'long')))
  all.push(queue.tenant('one', note(order, 'short'), { isShort: true }))
  all.push(queue.tenant('one', note(order, 'next'), { isShort: true }))
  first.end()
  await Promise.all(all)
  assert.deepEqual(order, ['first', 'old', 'short', 'next', 'long'])
})

test('a piece of long work goes behind all others, and before them once it has waited for 50 ms', async (t) => {
  const pass = withClock(t)
  const queue = createSessionQueue({ maxWaiting: 10, heavyMs: 10_000 })
  const order: string[] = []
  const first = held(order, 'first')
  const all = [queue.shared(first.work), queue.piece(note(order, 'piece'))]
  all.push(queue.tenant('one', note(order, 'query')), queue.shared(note(order, 'statement')))
  await first.begun
  first.end()
  await Promise.all([all[0], all[2], all[3]])
  assert.deepEqual(order, ['first', 'statement', 'query'])
  pass(6)
  await all[1]
  const second = held(order, 'second')
  all.push(queue.tenant('one', second.work))
  await second.begun
  all.push(queue.piece(note(order, 'late piece')))
  pass(51)
  all.push(queue.shared(note(order, 'later')))
  second.end()
  await Promise.all(all)
  assert.deepEqual(order.slice(3), ['piece', 'second', 'late piece', 'later'])
})

test('a query whose client disconnects leaves the queue of the session', async () => {
  const queue = createSessionQueue({ maxWaiting: 1, heavyMs: 2_000 })
  const order: string[] = []
  const first = held(order, 'first')
  const all = [queue.tenant('one', first.work)]
  await first.begun
  const reader = new AbortController()
  const leaving = queue.tenant('one', note(order, 'leaving'), { signal: reader.signal })
  reader.abort(new Error('left'))
  await assert.rejects(leaving, /left/)
  all.push(queue.tenant('one', note(order, 'next')))
  await assert.rejects(queue.tenant('one', note(order, 'late'), { signal: reader.signal }), /left/)
  first.end()
  await Promise.all(all)
  assert.deepEqual(order, ['first', 'next'])
})

test('work for idle times runs after all statements and queries', async () => {
  const queue = createSessionQueue({ maxWaiting: 10, heavyMs: 2_000 })
  const order: string[] = []
  const first = held(order, 'first')
  const idle = held(order, 'idle')
  const all = [queue.shared(first.work)]
  queue.whenIdle(idle.work)
  all.push(queue.tenant('one', note(order, 'query')), queue.shared(note(order, 'statement')))
  first.end()
  await idle.begun
  all.push(queue.shared(note(order, 'after')))
  idle.end()
  await Promise.all(all)
  assert.deepEqual(order, ['first', 'statement', 'query', 'idle', 'after'])
})

test('work keeps the asynchronous context of whoever asked for it', async () => {
  const queue = createSessionQueue({ maxWaiting: 10, heavyMs: 2_000 })
  const context = new AsyncLocalStorage<string>()
  const seen = await Promise.all(
    ['a', 'b', 'c'].map((name) => context.run(name, () => queue.exclusive(async () => context.getStore()))),
  )
  assert.deepEqual(seen, ['a', 'b', 'c'])
})
