import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ChunkCollector } from './chunk-collector.ts'

test('chunks of any size become the body that they are the parts of', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9_000 }))), (sizes) => {
      const chunks = sizes.map((size, n) => Buffer.alloc(size, n))
      const collected = new ChunkCollector()
      for (const chunk of chunks) collected.add(chunk)
      assert.deepEqual(collected.toBuffer(), Buffer.concat(chunks))
    }),
  )
})

test('a body in chunks of one byte takes no more memory than its bytes, and some blocks', () => {
  const collected = new ChunkCollector()
  const before = process.memoryUsage()
  for (let n = 0; n < 3_000_000; n++) collected.add(Buffer.from([n]))
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  // A buffer for each would be 300 MB; some of what is not collected yet is counted.
  assert.ok(heapUsed + arrayBuffers - before.heapUsed - before.arrayBuffers < 150_000_000)
  assert.equal(collected.toBuffer().length, 3_000_000)
})
