import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readWorkerFrame } from './protocol.ts'

// One database is enough: this reads bytes.

test('a frame of a worker with more values than a body may have breaks the protocol, and one of a long text does not', () => {
  const frame = (part: string) => Buffer.from(`{"t":"later","data":${part}}`)
  assert.equal(readWorkerFrame(frame(`[${'[],'.repeat(120_000)}0]`)), 'broken')
  assert.equal(readWorkerFrame(frame(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)), 'broken')
  assert.equal(readWorkerFrame(frame(`"${'[],'.repeat(120_000)}"`)), 'unknown')
})
