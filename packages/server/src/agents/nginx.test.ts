import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentWorld, until } from '../../testing/agent-world.ts'
import { openStream } from '../../testing/event-client.ts'
import { startNginx } from '../../testing/peers/nginx.ts'

// One database is enough: what nginx passes on does not say where it was stored.

test('through nginx with Debian’s defaults each delta arrives before the next is made', async () => {
  const world = await agentWorld()
  const nginx = await startNginx((address) => `server { listen ${address}; location / { proxy_pass ${world.url}; } }`)
  const pieces = 5
  let seen: (count: number) => Promise<void> = async () => {}
  const agentId = await world.agent()
  await world.worker(agentId, async ({ send }) => {
    send({ t: 'accept' })
    for (let n = 1; n <= pieces; n++) {
      send({ t: 'delta', text: `${n}` })
      await seen(n)
    }
    send({ t: 'done' })
  })
  const asked = openStream(`${nginx.url}${world.path(agentId, '/stream')}`, world.tenant.reader, { input: 'x' })
  seen = async (count) => {
    const reply = await asked
    await until(() => reply.text().length === count, `delta ${count} is held back`)
  }
  const reply = await asked
  await reply.over
  assert.equal(reply.headers.get('content-encoding'), null)
  assert.equal(reply.headers.get('server')?.startsWith('nginx'), true)
  assert.equal(reply.text(), '12345')
  assert.equal(reply.last()?.event, 'done')
  await nginx.stop()
  await world.close()
})
