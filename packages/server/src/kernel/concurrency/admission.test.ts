import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAdmission, type Release } from './admission.ts'

const refuse = (held: number): Error => new Error(`full, with ${held} held`)

/** Asks, and writes down when it was admitted. */
function asking(admit: (owner: string) => Release | Promise<Release>) {
  const order: string[] = []
  const releases: Release[] = []
  const ask = async (owner: string): Promise<void> => {
    const release = await admit(owner)
    order.push(owner)
    releases.push(release)
  }
  return { order, releases, ask }
}

test('where there is room nobody waits, not even for a promise', () => {
  const { admit } = createAdmission({ perOwner: 1, refuse })
  assert.equal(typeof admit('a'), 'function')
  assert.equal(typeof admit('b'), 'function')
})

test('a release counts once, however often it is called', () => {
  const admission = createAdmission({ total: 2, refuse })
  const release = admission.admit('a') as Release
  admission.admit('a')
  release()
  release()
  assert.equal(admission.taken, 1)
})

test('who waits is served by how little its owner holds, then by whose turn it is', async () => {
  const { admit } = createAdmission({ total: 4, refuse })
  const { order, releases, ask } = asking(admit)
  for (const owner of ['greedy', 'greedy', 'greedy', 'modest']) await ask(owner)
  const waiting = ['greedy', 'new', 'modest', 'newer'].map(ask)
  releases[0]?.()
  await waiting[1]
  releases[1]?.()
  await waiting[3]
  releases[2]?.()
  await waiting[0]
  releases[3]?.()
  await waiting[2]
  assert.deepEqual(order.slice(4), ['new', 'newer', 'greedy', 'modest'])
})

test('an owner at its limit does not hold up another that may enter', async () => {
  const { admit } = createAdmission({ total: 3, perOwner: 1, refuse })
  const { order, releases, ask } = asking(admit)
  await ask('a')
  const second = ask('a')
  await ask('b')
  releases[0]?.()
  await second
  assert.deepEqual(order, ['a', 'b', 'a'])
})

test('whoever leaves while waiting gives up its place', async () => {
  const { admit } = createAdmission({ total: 1, maxWaiting: 1, refuse })
  const release = admit('a') as Release
  const leaving = new AbortController()
  const first = Promise.resolve(admit('a', { signal: leaving.signal }))
  assert.throws(() => admit('a'), /full, with 1 held/)
  leaving.abort(new Error('left'))
  await assert.rejects(first, /left/)
  const second = admit('a')
  release()
  ;(await second)()
  assert.throws(() => admit('a', { signal: leaving.signal }), /left/)
})

test('who waits too long is refused, and told how much its owner holds', async () => {
  const admission = createAdmission({ perOwner: 2, waitMs: 1, refuse })
  admission.admit('a')
  admission.admit('a')
  await assert.rejects(async () => admission.admit('a'), /full, with 2 held/)
  assert.equal(admission.taken, 2)
})

test('owners that take all they can get leave room for those who hold none', () => {
  const admission = createAdmission({ total: 40, leavesRoom: true, maxWaiting: 0, refuse })
  const shares = Array.from({ length: 7 }, (_, owner) => {
    for (let count = 0; ; count++) {
      try {
        admission.enter(`greedy ${owner}`)
      } catch {
        return count
      }
    }
  })
  assert.deepEqual(shares, [15, 8, 4, 2, 1, 1, 1])
})

test('who asks without waiting gets a place or nothing', () => {
  const { tryAdmit } = createAdmission({ total: 2, perOwner: 1 })
  const release = tryAdmit('a')
  assert.equal(tryAdmit('a'), undefined)
  assert.ok(tryAdmit('b'))
  assert.equal(tryAdmit('c'), undefined)
  release?.()
  assert.ok(tryAdmit('c'))
})

test('owners take turns though one of them has a long queue, also where only one at a time is admitted', async () => {
  const { admit } = createAdmission({ total: 1, refuse })
  const { order, releases, ask } = asking(admit)
  await ask('greedy')
  const waiting = ['greedy', 'greedy', 'greedy', 'modest', 'greedy', 'new'].map(ask)
  for (let n = 0; n < waiting.length; n++) {
    releases[n]?.()
    await new Promise(setImmediate)
  }
  await Promise.all(waiting)
  assert.deepEqual(order, ['greedy', 'greedy', 'modest', 'new', 'greedy', 'greedy', 'greedy'])
})

test('a shared queue always has a place for another owner', () => {
  const { enter } = createAdmission({ total: 1, maxWaiting: 8, sharesQueue: true, refuse })
  /** How many may wait, of those who ask for it. */
  const waitingOf = (owner: string): number => {
    for (let n = 0; ; n++) {
      try {
        void enter(owner)
      } catch {
        return n
      }
    }
  }
  void enter('first')
  assert.deepEqual(['greedy', 'second', 'third'].map(waitingOf), [4, 2, 1])
})
