import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createConnectionPool, PoolFull } from './connection-pool.ts'

type Connection = { readonly id: number; isOpen: boolean }

function pool(options: { maxTotal: number; waitMs?: number; leavesRoom?: boolean }) {
  let made = 0
  const open = new Set<Connection>()
  const connections = createConnectionPool<Connection>({
    waitMs: 50,
    leavesRoom: true,
    isOpen: ({ isOpen }) => isOpen,
    close: (one) => open.delete(one),
    ...options,
  })
  const poolKeyOf = (owner: string) => ({ key: owner, owner })
  return {
    open,
    made: () => made,
    take(owner: string, maxEach = 100, signal?: AbortSignal, opened?: Promise<unknown>): Promise<Connection> {
      const openNext = async () => {
        const connection = { id: made++, isOpen: true }
        await opened
        open.add(connection)
        return connection
      }
      return connections.take(poolKeyOf(owner), { maxEach, signal, open: openNext, isFresh: () => true })
    },
    give: (owner: string, connection?: Connection) => connections.giveBack(poolKeyOf(owner), connection),
    connections,
  }
}

/** How many an owner gets before it has to wait. */
async function greed(take: (owner: string) => Promise<unknown>, owner: string): Promise<number> {
  for (let count = 0; ; count++) {
    try {
      await take(owner)
    } catch (error) {
      assert.ok(error instanceof PoolFull)
      assert.equal(error.held, count)
      return count
    }
  }
}

describe('a connection pool that many owners share', () => {
  test('leaves room for newcomers, however many owners take all they can get', async () => {
    const { take } = pool({ maxTotal: 40, waitMs: 1 })
    const shares: number[] = []
    for (let owner = 0; owner < 7; owner++) shares.push(await greed(take, `greedy ${owner}`))
    assert.deepEqual(shares, [15, 8, 4, 2, 1, 1, 1])
    for (let owner = 0; owner < 8; owner++) await take(`newcomer ${owner}`)
  })

  test('gives one owner no more than it may have', async () => {
    const { take } = pool({ maxTotal: 40, waitMs: 1 })
    assert.equal(await greed((owner) => take(owner, 4), 'a'), 4)
  })

  test('without the rule one owner gets all', async () => {
    const { take } = pool({ maxTotal: 10, waitMs: 1, leavesRoom: false })
    assert.equal(await greed(take, 'a'), 10)
  })

  test('serves who holds fewest before who came first', async () => {
    const { take, give } = pool({ maxTotal: 4, waitMs: 5_000, leavesRoom: false })
    for (const owner of ['a', 'a', 'a', 'b']) await take(owner)
    const order: string[] = []
    const waiting = ['a', 'b', 'c'].map((owner) => take(owner).then(() => order.push(owner)))
    await setImmediate()
    for (const owner of ['a', 'a', 'b']) {
      give(owner)
      await setImmediate()
    }
    await Promise.all(waiting)
    assert.deepEqual(order, ['c', 'a', 'b'])
  })

  test('keeps idle connections, and gives up the least recently used one for another owner', async () => {
    const { take, give, open, made } = pool({ maxTotal: 2 })
    const first = await take('a')
    give('a', first)
    assert.equal(await take('a'), first)
    give('a', first)
    give('b', await take('b'))
    give('c', await take('c'))
    assert.equal(made(), 3)
    assert.equal(open.has(first), false)
    assert.equal(open.size, 2)
  })

  test('hands out no connection that was lost while it was idle', async () => {
    const { take, give } = pool({ maxTotal: 2 })
    const first = await take('a')
    give('a', first)
    first.isOpen = false
    assert.notEqual(await take('a'), first)
  })

  test('serves who waits for a new connection with one that is given back before, and keeps the new one for the next', async () => {
    const { take, give, open, made } = pool({ maxTotal: 2, leavesRoom: false })
    const first = await take('a')
    const opened = Promise.withResolvers<void>()
    const waiting = take('a', 2, undefined, opened.promise)
    give('a', first)
    assert.equal(await waiting, first)
    const next = take('a', 2)
    opened.resolve()
    assert.equal((await next).id, 1)
    assert.equal(made(), 2)
    assert.equal(open.size, 2)
  })

  test('a new connection that fails is an error of nobody who has another meanwhile, nor of who came later', async () => {
    const { take, give, made, connections } = pool({ maxTotal: 2, leavesRoom: false })
    const first = await take('a')
    const opened = Promise.withResolvers<void>()
    const waiting = take('a', 2, undefined, opened.promise)
    give('a', first)
    assert.equal(await waiting, first)
    const next = take('a', 2)
    opened.reject(new Error('The server does not answer'))
    assert.equal((await next).id, 2)
    assert.equal(made(), 3)
    const refused = Promise.reject(new Error('The server is down'))
    give('a')
    await assert.rejects(take('a', 2, undefined, refused), /is down/)
    assert.equal(connections.total, 1)
  })

  test('closes a new connection that nobody waits for any more where others have the room', async () => {
    const { take, give, open } = pool({ maxTotal: 2, leavesRoom: false })
    const first = await take('a')
    const opened = Promise.withResolvers<void>()
    const waiting = take('a', 2, undefined, opened.promise)
    give('a', first)
    await waiting
    const other = await take('b')
    opened.resolve()
    await setImmediate()
    assert.deepEqual(open, new Set([first, other]))
  })

  test('forgets who leaves while waiting', async () => {
    const { take, give, connections } = pool({ maxTotal: 1, waitMs: 5_000 })
    const only = await take('a')
    const leaving = new AbortController()
    const left = take('b', 1, leaving.signal)
    const stays = take('c')
    leaving.abort(new Error('left'))
    await assert.rejects(left, /left/)
    give('a', only)
    await stays
    give('c')
    assert.equal(connections.total, 0)
    await assert.rejects(take('b', 1, leaving.signal), /left/)
  })
})
