/**
 * Tells webhook contact points of the changes of datasets. The webhooks are rows under leases (kernel/jobs/lease-queue.ts): however many
 * replicas run, one at a time tells a webhook, and its position in the change log moves in the transaction that queues the delivery. A webhook
 * has one pending delivery at most; what is written meanwhile comes with the next one. So deliveries keep their order, and a receiver
 * that is slow or dead neither holds up others nor makes a queue grow.
 */
import type { Watch } from '../../kernel/concurrency/work-watch.ts'
import { createBackground } from '../../kernel/jobs/background.ts'
import { createLeaseQueue } from '../../kernel/jobs/lease-queue.ts'
import type { LeaseSource } from '../../kernel/jobs/lease-workers.ts'
import { type TellContext, tellChanges } from './tell-changes.ts'
import { type ClaimedWebhook, claimWebhook, webhookTable } from './webhook-rows.ts'

export type Webhooks = {
  start(): Promise<void>
  close(): Promise<void>
}

type WebhooksOptions = TellContext & { onError(error: unknown): void; watch?: () => Watch }

const leaseSeconds = 12
/** Writers announce nothing, so this is how long a change may wait. */
const lookMs = 1_000

export function createWebhooks({ onError, watch, ...context }: WebhooksOptions): Webhooks {
  const { db } = context
  const background = createBackground(onError, watch)
  const source: LeaseSource<ClaimedWebhook> = {
    db,
    table: webhookTable,
    concurrency: 4,
    perApplication: 1,
    claimNext: (besides, seconds) => claimWebhook(db, besides, seconds),
    work: (claimed, signal) => tellChanges(context, claimed, signal),
  }
  const queue = createLeaseQueue(source, { background, leaseSeconds, onError, lookMs })
  return {
    async start() {
      await queue.free()
      queue.start()
    },
    async close() {
      await background.close()
      await queue.close()
    },
  }
}
