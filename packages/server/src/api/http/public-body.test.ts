import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type TestApp, testApp } from '../../../testing/harness.ts'

// One database is enough: a body is refused before anything is asked of the database.

let app: TestApp
before(async () => {
  app = await testApp()
})
after(() => app.close())

test('an operation that needs no key takes 16 KiB at most', async () => {
  const open = app.operations.filter(({ access, method }) => access === 'public' && method !== 'GET')
  assert.ok(open.length >= 4)
  for (const { method, path } of open) {
    const send = (bytes: number) =>
      app.call(method, path, { key: null, raw: JSON.stringify({ email: 'a'.repeat(bytes - 12) }) })
    assert.equal((await send(16_385)).status, 413, path)
    assert.notEqual((await send(16_384)).status, 413, path)
  }
})

test('where there is nothing a body is not even read', async () => {
  const reply = await app.call('POST', '/api/v1/nothing', { key: null, raw: 'x'.repeat(2_000_000) })
  assert.equal(reply.status, 404)
})
