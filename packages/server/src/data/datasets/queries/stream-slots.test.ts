import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStreamSlots } from './stream-slots.ts'

// One database is enough: it needs none.

test('a slot is taken without waiting only where one is free, and given back if no query began', () => {
  const ended: string[] = []
  const slots = createStreamSlots({ perApplication: 2, onQuery: (id) => ended.push(id) })
  const releases: (() => void)[] = []
  const take = (id: string) => slots.tryTake(id, (release) => releases.push(release) > 0)
  assert.equal(
    slots.tryTake('a', () => false),
    false,
  )
  assert.deepEqual([take('a'), take('a'), take('a'), take('b')], [true, true, false, true])
  assert.equal(slots.taken, 3)
  for (const release of [...releases, ...releases]) release()
  assert.equal(slots.taken, 0)
  assert.deepEqual(ended, ['a', 'a', 'b'], 'what did not begin is no query, and each one ends once')
})

test('an application has as many slots as its own limit says, and none before that is known', async () => {
  const limits: Record<string, number | Promise<number>> = {
    a: 1,
    b: Promise.resolve(5),
    c: Promise.reject(new Error()),
  }
  const slots = createStreamSlots({ perApplication: 8, limitOf: (id) => limits[id] })
  const take = (id: string) => slots.tryTake(id, () => true)
  assert.deepEqual([take('a'), take('a'), take('b'), take('c')], [true, false, false, false])
  assert.equal(slots.taken, 1)
})
