import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createDetachingMap } from './detaching-map.ts'

test('what is under way is found by its id until it is taken out', () => {
  const map = createDetachingMap<number>()
  map.set('a', 1)
  map.set('b', 2)
  map.delete('a')
  map.delete('never there')
  assert.equal(map.get('a'), undefined)
  assert.deepEqual([map.get('b'), map.values(), map.size], [2, [2], 1])
})

test('what was taken out is not kept until a full collection', () => {
  setFlagsFromString('--expose-gc')
  const collect: (options: { type: 'major' | 'minor' }) => void = runInNewContext('gc')
  const map = createDetachingMap<number[]>()
  let id = 0
  const pass = (count: number) => {
    for (let n = 0; n < count; n++) {
      map.set(String(id), new Array(1_000).fill(id))
      map.delete(String(id - 50))
      id += 1
      if (n % 500 === 0) collect({ type: 'minor' })
    }
  }
  pass(2_000)
  collect({ type: 'major' })
  const before = process.memoryUsage().heapUsed
  pass(10_000)
  collect({ type: 'minor' })
  collect({ type: 'minor' })
  const grownBy = process.memoryUsage().heapUsed - before
  assert.ok(grownBy < 8_000_000, `grown by ${grownBy}`)
})
