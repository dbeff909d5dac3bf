import assert from 'node:assert/strict'
import { tellChanges } from '../src/data/webhooks/tell-changes.ts'
import { claimWebhook } from '../src/data/webhooks/webhook-rows.ts'
import { changeWorld } from './changes/change-world.ts'
import { httpSink } from './peers/http-sink.ts'
import { until } from './until.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was sent
export type WebhookMessage = { type: string; timestamp: string; data: any }
export type WebhookWorld = Awaited<ReturnType<typeof webhookWorld>>

/** A tenant with webhooks that are told of changes. Nobody tells but the test, by `turn`, so nothing depends on time. */
export async function webhookWorld() {
  const world = await changeWorld()
  const { app, tenant } = world
  let status = 200
  const sink = await httpSink(() => ({ status }))
  const { deliveries, sources, slots } = app.services
  const call: typeof app.call = (method, path, request) =>
    app.call(method, `/api/v1/${path}`, { key: tenant.developer, ...request })
  let points = 0

  /** Everything that is due, as a replica would do it. */
  async function turn(): Promise<void> {
    for (let claimed = await claimWebhook(app.db, [], 60); claimed; claimed = await claimWebhook(app.db, [], 60)) {
      await tellChanges({ db: app.db, deliveries, sources, slots }, claimed, new AbortController().signal)
    }
  }

  async function point(rest: object = {}): Promise<string> {
    const settings = { url: `${sink.url}/${points++}` }
    const reply = await call('POST', 'contactpoints', { body: { name: 'hook', type: 'webhook', settings, ...rest } })
    assert.equal(reply.status, 201, reply.text)
    return reply.body.id
  }

  const bind = (id: string, bindings: readonly object[], key = tenant.developer) =>
    call('PUT', `contactpoints/${id}/bindings`, { key, body: { bindings } })

  const isOf = (datasetId: string) => (told: WebhookMessage) => told.data.datasetId === datasetId
  const told = (datasetId: string): WebhookMessage[] =>
    sink.requests.map(({ body }) => JSON.parse(body)).filter(isOf(datasetId))

  return {
    ...world,
    call,
    sink,
    turn,
    point,
    bind,
    told,
    /** What the receiver answers from now on. */
    answer(next: number) {
      status = next
    },
    /** A new contact point that is told of the changes of a dataset. */
    async bound(datasetId: string, rest: object = {}): Promise<string> {
      const id = await point()
      const reply = await bind(id, [{ datasetId, ...rest }])
      assert.equal(reply.status, 200, reply.text)
      return id
    },
    /** Takes turns until so many events have come. Changes wait for older transactions, also for those of other databases. */
    async toldOf(datasetId: string, count = 1): Promise<WebhookMessage[]> {
      await until(async () => {
        await turn()
        return told(datasetId).length >= count
      })
      return told(datasetId)
    },
    async close() {
      await world.close()
      await sink.close()
    },
  }
}
