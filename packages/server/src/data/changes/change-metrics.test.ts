import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { changed } from '../../../testing/changes/change-world.ts'
import { until } from '../../../testing/until.ts'
import { type WebhookWorld, webhookWorld } from '../../../testing/webhook-world.ts'
import { listen } from '../../kernel/events.ts'
import { createListener } from './listener.ts'

// One database is enough: the metrics are counted above it.
let world: WebhookWorld
before(async () => {
  world = await webhookWorld()
})
after(() => world.close())

/** A figure without labels, or with those given. */
async function figure(name: string): Promise<number> {
  const { text } = await world.app.call('GET', '/metrics')
  const line = text.split('\n').find((one) => one.startsWith(`graticule_${name} `))
  return Number(line?.split(' ').at(-1) ?? 0)
}

test('the figures tell how many follow how many tables, what they were sent, and how late', async () => {
  const first = await world.table()
  const second = await world.table()
  const twin = await world.dataset(first.name)
  const before = await figure('change_events_total')
  const told = await figure('change_delay_seconds_count')
  const clients = [await world.followed(first.id), await world.followed(twin), await world.followed(second.id)]
  assert.deepEqual([await figure('change_listeners'), await figure('change_tables')], [3, 2])
  await world.script(`INSERT INTO $.${first.name} VALUES (1)`)
  for (const client of clients.slice(0, 2)) await changed(client)
  assert.equal((await figure('change_events_total')) - before, 2)
  assert.equal((await figure('change_delay_seconds_count')) - told, 2)
  assert.ok((await figure('change_delay_seconds_sum')) >= 0)
  assert.ok((await figure('change_held_seconds')) >= 0)
  for (const client of clients) client.close()
  await until(async () => (await figure('change_listeners')) === 0)
  assert.equal(await figure('change_tables'), 0)
})

test('deliveries to webhooks are counted by their type', async () => {
  const type = 'change_deliveries_total{type="dataset.changed"}'
  const before = await figure(type)
  const { name, id } = await world.table()
  await world.bound(id)
  await world.script(`INSERT INTO $.${name} VALUES (1)`)
  await world.toldOf(id)
  assert.equal((await figure(type)) - before, 1)
})

test('a client that is cut because it does not read is counted', () => {
  let cut = 0
  const stop = listen('listenerCut', () => cut++)
  try {
    const listener = createListener({ reset: () => {} })
    listener.send('x'.repeat(200_000))
    assert.equal(cut, 0)
    listener.send('x'.repeat(200_000))
    assert.equal(cut, 1)
  } finally {
    stop()
  }
})
