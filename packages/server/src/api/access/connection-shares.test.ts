import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import type { Caller } from './acl.ts'
import { createConnectionShares } from './connection-shares.ts'

// One database is enough: none is asked.

const callerOf = (applicationId: string, connections?: number) =>
  ({ applicationId, connections, type: 'app' }) as unknown as Caller

function shares(total: number, perApplication: number, count = 1) {
  const hold = createConnectionShares({ total, perApplication, share: { number: 1, count } })
  const ask = (caller: Caller, socket: Socket): boolean => {
    try {
      hold(caller, socket, {} as ServerResponse)
      return true
    } catch {
      return false
    }
  }
  /** How many more connections it gets. */
  const roomOf = (caller: Caller): number => {
    let room = 0
    while (ask(caller, new Socket())) room++
    return room
  }
  return { ask, roomOf }
}

test('a connection belongs to the application of its last request, as those of a proxy do, until it closes', async () => {
  const { ask, roomOf } = shares(100, 3)
  const [proxy, own] = [new Socket(), new Socket()]
  assert.ok(ask(callerOf('a'), proxy) && ask(callerOf('a'), own) && ask(callerOf('a'), own))
  assert.ok(ask(callerOf('b'), proxy))
  assert.deepEqual([roomOf(callerOf('a')), roomOf(callerOf('b'))], [2, 2])
  assert.ok(ask(callerOf('a'), own), 'one that it has goes on')
  assert.ok(!ask(callerOf('a'), proxy), 'one of another it does not get')
  for (const socket of [own, proxy]) await once(socket.destroy(), 'close')
  assert.deepEqual([roomOf(callerOf('a')), roomOf(callerOf('b'))], [1, 1])
})

test('no application gets more than three quarters of all, and each worker allows its part', () => {
  assert.equal(shares(8, 100).roomOf(callerOf('a')), 6)
  assert.equal(shares(8, 2).roomOf(callerOf('a', 100)), 6)
  assert.equal(shares(100, 2, 2).roomOf(callerOf('a', 10)), 5)
  assert.equal(shares(1, 1).roomOf(callerOf('a')), 1)
})
