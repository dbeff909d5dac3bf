import { isDeepStrictEqual } from 'node:util'
import Type from 'typebox'
import { authorize, type Caller } from '../../api/access/acl.ts'
import { transactWithEntry } from '../../api/access/audit-trail.ts'
import { type Operation, operationUsing } from '../../api/http/operation.ts'
import { recordGuard } from '../../api/resource/reach.ts'
import type { RecordCache } from '../../api/resource/record-cache.ts'
import type { BaseServices, Entity, Resource } from '../../api/resource/resource.ts'
import { getEntity } from '../../api/resource/store.ts'
import { ApiError, invalid, isNotFound } from '../../kernel/errors.ts'
import { limits } from '../../kernel/limits/limits.ts'
import { openTopic } from '../changes/follow.ts'
import { writeEventId } from '../changes/position.ts'
import type { CachedDataset } from '../datasets/dataset-cache.ts'
import type { Dataset } from '../datasets/dataset-record.ts'
import { endOfLog } from './read-changes.ts'
import { type NewWebhook, replaceWebhooks } from './replace-webhooks.ts'
import { readRowFilter } from './row-filter.ts'
import { type Webhook, webhookInputSchema, webhookSchema, withDefaults } from './webhook.ts'
import { readWebhooks, type StoredWebhook } from './webhook-rows.ts'

export type WebhookServices = BaseServices & { readonly datasetCache: RecordCache<CachedDataset> }
const operation = operationUsing<WebhookServices>()

const mostOfPoint = limits.contactPointBindings.value

const listSchema = Type.Object({ bindings: Type.Array(webhookSchema) }, { title: 'ChangeBindings' })

const pathOf = ({ path }: Resource) => `${path}/{id}/bindings` as const

const listOperation = (contactPoint: Resource) =>
  operation({
    id: 'contactpoints.bindings',
    method: 'GET',
    path: pathOf(contactPoint),
    summary: 'List the datasets whose changes are sent to a contact point',
    access: { class: 'contactpoints', level: 'read' },
    success: { status: 200, description: 'The bindings, and how far each was told', schema: listSchema },
    async handle({ scope, services }, { params: { id } }) {
      const { entity } = await getEntity({ resource: contactPoint, services }, scope, id, ['id'])
      return { body: await shownWebhooks(services, String(entity.id)) }
    },
  })

const replaceOperation = (contactPoint: Resource) =>
  operation({
    id: 'contactpoints.bind',
    method: 'PUT',
    path: pathOf(contactPoint),
    summary: 'Send the changes of datasets to a webhook contact point',
    description:
      'Replaces all bindings of the contact point; an empty list ends them. A binding whose dataset stays goes on where it is in ' +
      'the log of changes, others begin now. New and changed ones need `execute` on their datasets too, which must be such as ' +
      'can be followed (409 otherwise). The webhook gets `dataset.changed` with `datasetId`, `version`, `operations`, `rows`, ' +
      '`keys`, `bbox`, `firstEventId` and `lastEventId`, or `dataset.reset` where changes were missed.',
    access: { class: 'contactpoints', level: 'write' },
    body: Type.Object(
      {
        bindings: Type.Array(webhookInputSchema, {
          maxItems: mostOfPoint,
          description: `At most ${mostOfPoint}`,
          'x-limit': { name: 'contactPointBindings' },
        }),
      },
      { additionalProperties: false, examples: [{ bindings: [] }], title: 'ChangeBindingsUpdate' },
    ),
    beforeBody: recordGuard(contactPoint),
    success: { status: 200, description: 'The bindings', schema: listSchema },
    failures: [409],
    async handle({ caller, scope, services, trail }, { params: { id }, body }) {
      const { db } = services
      const { entity } = await getEntity({ resource: contactPoint, services }, scope, id)
      const wanted = body.bindings.map(withDefaults)
      checkTogether(entity, wanted)
      const stored = new Map((await readWebhooks(db, String(entity.id))).map((one) => [one.datasetId, one]))
      const checked: NewWebhook[] = []
      for (const [index, webhook] of wanted.entries()) {
        checked.push(
          await check({ services, caller, entity }, webhook, stored.get(webhook.datasetId), `body/bindings/${index}`),
        )
      }
      if (trail) trail.target = { type: 'contactpoints', id: String(entity.id), name: String(entity.name) }
      await transactWithEntry(db, trail, (tx) => replaceWebhooks(tx, entity, checked))
      return { body: await shownWebhooks(services, String(entity.id)) }
    },
  })

/** The resource of contact points belongs to another wing. */
export const webhookOperations = (contactPoint: Resource): readonly Operation<WebhookServices>[] => [
  listOperation(contactPoint),
  replaceOperation(contactPoint),
]

function checkTogether({ type }: Entity, wanted: readonly Webhook[]): void {
  if (wanted.length > 0 && type !== 'webhook') {
    throw new ApiError('conflict', `The contact point is of type "${type}", and only webhooks are told of changes.`)
  }
  const twice = wanted.findIndex(
    ({ datasetId }, index) => wanted.findIndex((one) => one.datasetId === datasetId) < index,
  )
  if (twice >= 0) throw invalid(`body/bindings/${twice}/datasetId`, 'must not be there twice')
}

type WebhookCheck = { readonly services: WebhookServices; readonly caller: Caller; readonly entity: Entity }

/** One that stays as it is needs no right on its dataset. */
async function check(
  context: WebhookCheck,
  webhook: Webhook,
  stored: StoredWebhook | undefined,
  place: string,
): Promise<NewWebhook> {
  if (stored && isDeepStrictEqual(webhook, definitionOf(stored))) return { webhook }
  const dataset = await reachedDataset(context, webhook, place)
  if (webhook.filter) readRowFilter(dataset, webhook.filter, `${place}/filter`)
  checkBox(webhook, `${place}/bbox`)
  const { db } = context.services
  const { state } = await openTopic(db, dataset)
  return { webhook, start: { state, position: await endOfLog(db) } }
}

async function reachedDataset(
  { services, caller, entity }: WebhookCheck,
  { datasetId }: Webhook,
  place: string,
): Promise<Dataset> {
  const scope = authorize(caller, { class: 'datasets', level: 'execute' }, datasetId)
  const record = await services.datasetCache.get(scope, datasetId).catch((error) => {
    if (!isNotFound(error)) throw error
    return undefined
  })
  if (!record || record.dataset.applicationId !== entity.applicationId) {
    throw invalid(`${place}/datasetId`, 'must be the id of a dataset of the same application')
  }
  if (record.dataset.narrowing)
    throw new ApiError(
      'rule_refused',
      'Changes are not sent for callers whom rules of the dataset bind. Use a key without a user.',
    )
  return record.dataset
}

function checkBox({ bbox }: Webhook, place: string): void {
  const [west = 0, south = 0, east = 0, north = 0] = bbox ?? []
  if (Math.abs(west) > 180 || Math.abs(east) > 180 || south < -90 || north > 90 || south > north) {
    throw invalid(place, 'must be west, south, east and north in degrees, such as [5.8, 47.2, 15.1, 55.1]')
  }
}

const definitionOf = ({ datasetId, operations, filter, bbox, debounceSeconds }: Webhook): Webhook => ({
  datasetId,
  operations,
  filter,
  bbox,
  debounceSeconds,
})

async function shownWebhooks({ db }: WebhookServices, contactPointId: string) {
  const webhooks = await readWebhooks(db, contactPointId)
  return {
    bindings: webhooks.map((one) => ({
      ...definitionOf(one),
      lastEventId: writeEventId(one.era, one.position),
      problem: one.problem,
    })),
  }
}
