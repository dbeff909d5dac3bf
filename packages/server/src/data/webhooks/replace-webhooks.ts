import type { Entity } from '../../api/resource/resource.ts'
import type { Queryable } from '../../kernel/db/db.ts'
import { ApiError } from '../../kernel/errors.ts'
import { limits, overLimit } from '../../kernel/limits/limits.ts'
import type { Webhook } from './webhook.ts'
import {
  addWebhook,
  changeWebhook,
  countWebhooks,
  lockCount,
  lockDatasets,
  lockWebhooks,
  readWebhooks,
  removeWebhooks,
  type WebhookStart,
} from './webhook-rows.ts'

/** Without a start it is stored already, as it is. */
export type NewWebhook = { readonly webhook: Webhook; readonly start?: WebhookStart }

/** Makes these the webhooks of the contact point. */
export async function replaceWebhooks(
  tx: Queryable,
  { id, applicationId }: Entity,
  wanted: readonly NewWebhook[],
): Promise<void> {
  const contactPointId = String(id)
  await lockCount(tx, String(applicationId))
  const datasets = await lockDatasets(
    tx,
    wanted.map(({ webhook }) => webhook.datasetId),
  )
  if (!(await lockWebhooks(tx, contactPointId)))
    throw new ApiError('not_found', 'There is no ContactPoint with this id.')
  const stored = new Map((await readWebhooks(tx, contactPointId)).map((one) => [one.datasetId, one.id]))
  for (const { webhook, start } of wanted) {
    const row = stored.get(webhook.datasetId)
    stored.delete(webhook.datasetId)
    if (!start && row !== undefined) continue
    if (!start || !datasets.has(webhook.datasetId)) throw changedMeanwhile()
    if (row === undefined) await addWebhook(tx, contactPointId, webhook, start)
    else await changeWebhook(tx, row, webhook)
  }
  await removeWebhooks(tx, [...stored.values()])
  await demandFew(tx, String(applicationId))
}

const most = limits.bindings.value

async function demandFew(tx: Queryable, applicationId: string): Promise<void> {
  if ((await countWebhooks(tx, applicationId)) <= most) return
  throw overLimit(
    'bindings',
    most,
    `The contact points of an application have ${most} bindings at most. Remove others first.`,
  )
}

const changedMeanwhile = (): ApiError =>
  new ApiError('conflict', 'Somebody else has changed the bindings or deleted a dataset meanwhile. Try again.')
