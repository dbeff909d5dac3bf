import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTurn, type Turn } from './turn.ts'

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

const note =
  (order: string[], name: string, ms = 0) =>
  async (): Promise<void> => {
    order.push(name)
    if (ms > 0) await sleep(ms)
  }

/** Gives a tenant a history: it used the session for so long. */
const use = (turn: Turn, tenant: string, ms: number): Promise<void> => turn.tenant(tenant, () => sleep(ms))

test('statements share the session, a transaction and a tenant’s query have it alone', async () => {
  const turn = createTurn({ maxWaiting: 10 })
  const order: string[] = []
  const [a, b, transaction, query] = ['a', 'b', 'transaction', 'query'].map((name) => held(order, name))
  assert.ok(a && b && transaction && query)
  const all = [
    turn.shared(a.work),
    turn.shared(b.work),
    turn.exclusive(transaction.work),
    turn.tenant('one', query.work),
    turn.shared(note(order, 'later')),
  ]
  await Promise.all([a.begun, b.begun])
  a.end()
  await sleep(1)
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

test('a failure is told to whoever caused it, and the next goes on', async () => {
  const turn = createTurn({ maxWaiting: 10 })
  const failing = async (): Promise<never> => {
    throw new Error('broken')
  }
  await assert.rejects(turn.shared(failing), /broken/)
  await assert.rejects(turn.exclusive(failing), /broken/)
  await assert.rejects(turn.tenant('one', failing), /broken/)
  assert.equal(await turn.shared(async () => 1), 1)
})

test('the tenant that used the least time lately goes next, and the platform before all', async () => {
  const turn = createTurn({ maxWaiting: 100 })
  await use(turn, 'greedy', 60)
  await use(turn, 'modest', 1)
  const order: string[] = []
  const first = held(order, 'first')
  const all = [turn.tenant('greedy', first.work)]
  for (let n = 0; n < 3; n++) all.push(turn.tenant('greedy', note(order, 'greedy', 5)))
  all.push(turn.tenant('modest', note(order, 'modest')), turn.shared(note(order, 'platform')))
  await first.begun
  first.end()
  await Promise.all(all)
  assert.deepEqual(order, ['first', 'platform', 'modest', 'greedy', 'greedy', 'greedy'])
})

test('tenants take turns, however many queries each has waiting', async () => {
  const turn = createTurn({ maxWaiting: 100 })
  await Promise.all([use(turn, 'a', 1), use(turn, 'b', 1)])
  const order: string[] = []
  const first = held(order, 'first')
  const all = [turn.shared(first.work)]
  for (let n = 0; n < 9; n++) all.push(turn.tenant('a', note(order, 'a', 30)))
  all.push(turn.tenant('b', note(order, 'b')))
  await first.begun
  first.end()
  await Promise.all(all)
  assert.ok(order.slice(0, 4).includes('b'), order.join(' '))
})

test('the next statement of a request goes before the next query of a tenant that takes long', async () => {
  const turn = createTurn({ maxWaiting: 100 })
  await use(turn, 'greedy', 2_100)
  const order: string[] = []
  const first = held(order, 'first')
  const all = [turn.tenant('greedy', first.work), turn.tenant('greedy', note(order, 'greedy'))]
  const request = async (): Promise<void> => {
    for (const step of ['key', 'dataset', 'database']) {
      await turn.shared(note(order, step))
      await sleep(5)
    }
    await turn.tenant('modest', note(order, 'modest'))
  }
  await first.begun
  all.push(request())
  first.end()
  await Promise.all(all)
  assert.deepEqual(order, ['first', 'key', 'dataset', 'database', 'modest', 'greedy'])
})

test('the platform keeps a tenant waiting for a second at most, however much it asks', async () => {
  const turn = createTurn({ maxWaiting: 100 })
  let isOver = false
  const busy = Array.from({ length: 3 }, async () => {
    while (!isOver) await turn.shared(() => sleep(20))
  })
  const start = performance.now()
  await turn.tenant('one', async () => {})
  assert.ok(performance.now() - start < 3_000)
  isOver = true
  await Promise.all(busy)
})

test('a tenant has so many queries waiting and no more, whatever others have', async () => {
  const turn = createTurn({ maxWaiting: 2 })
  const order: string[] = []
  const first = held(order, 'first')
  const all = [turn.tenant('one', first.work)]
  await first.begun
  all.push(turn.tenant('one', note(order, 'second')), turn.tenant('one', note(order, 'third')))
  await assert.rejects(turn.tenant('one', note(order, 'fourth')), {
    code: 'busy',
    message: /already has 2 queries waiting, its limit/,
  })
  all.push(turn.tenant('two', note(order, 'other')))
  first.end()
  await Promise.all(all)
  assert.ok(order.includes('other') && !order.includes('fourth'))
})

test('whoever leaves while waiting gives the place up', async () => {
  const turn = createTurn({ maxWaiting: 1 })
  const order: string[] = []
  const first = held(order, 'first')
  const all = [turn.tenant('one', first.work)]
  await first.begun
  const reader = new AbortController()
  const leaving = turn.tenant('one', note(order, 'leaving'), reader.signal)
  reader.abort(new Error('left'))
  await assert.rejects(leaving, /left/)
  all.push(turn.tenant('one', note(order, 'next')))
  await assert.rejects(turn.tenant('one', note(order, 'late'), reader.signal), /left/)
  first.end()
  await Promise.all(all)
  assert.deepEqual(order, ['first', 'next'])
})

test('what waits for idleness goes last', async () => {
  const turn = createTurn({ maxWaiting: 10 })
  const order: string[] = []
  const first = held(order, 'first')
  const idle = held(order, 'idle')
  const all = [turn.shared(first.work)]
  turn.whenIdle(idle.work)
  all.push(turn.tenant('one', note(order, 'query')), turn.shared(note(order, 'statement')))
  first.end()
  await idle.begun
  all.push(turn.shared(note(order, 'after')))
  idle.end()
  await Promise.all(all)
  assert.deepEqual(order, ['first', 'statement', 'query', 'idle', 'after'])
})

test('work keeps the asynchronous context of whoever asked for it', async () => {
  const turn = createTurn({ maxWaiting: 10 })
  const context = new AsyncLocalStorage<string>()
  const seen = await Promise.all(
    ['a', 'b', 'c'].map((name) => context.run(name, () => turn.exclusive(async () => context.getStore()))),
  )
  assert.deepEqual(seen, ['a', 'b', 'c'])
})
