import assert from 'node:assert/strict'
import test from 'node:test'
import { startFakePlatform } from '../testing/fake-platform.ts'
import { createLink } from './link.ts'
import type { FromLink } from './link-messages.ts'

test('a key that is revoked while serving ends the worker after five refusals', async (t) => {
  t.mock.method(Math, 'random', () => 0)
  const platform = await startFakePlatform()
  t.after(() => platform.close())
  const address = `${platform.url.replace('http', 'ws')}/api/v1/agents/a/connect`
  const ended = Promise.withResolvers<FromLink>()
  createLink({ address, apiKey: 'k', workerId: 'w', capacity: 1, sdk: 'test' }, (message) => {
    if (message.type === 'ended') ended.resolve(message)
  })
  const session = await platform.session()
  platform.refusal = { status: 401 }
  session.socket.close(4401, 'key revoked')
  assert.deepEqual(await ended.promise, {
    type: 'ended',
    refusal: { status: 401, message: 'the platform answered 401' },
  })
  assert.equal(platform.attempts.length, 1 + 5)
})
