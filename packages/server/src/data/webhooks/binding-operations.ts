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
import { type Binding, bindingSchema, givenSchema, withDefaults } from './binding.ts'
import { readBindings, type StoredBinding } from './binding-rows.ts'
import { endOfLog } from './read-changes.ts'
import { type NewBinding, replaceBindings } from './replace-bindings.ts'
import { readRowFilter } from './row-filter.ts'

export type BindingServices = BaseServices & { readonly datasetCache: RecordCache<CachedDataset> }
const operation = operationUsing<BindingServices>()

const mostOfPoint = limits.contactPointBindings.value

const listSchema = Type.Object({ bindings: Type.Array(bindingSchema) }, { title: 'ChangeBindings' })

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
      return { body: await shownBindings(services, String(entity.id)) }
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
        bindings: Type.Array(givenSchema, {
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
      const stored = new Map((await readBindings(db, String(entity.id))).map((one) => [one.datasetId, one]))
      const checked: NewBinding[] = []
      for (const [index, binding] of wanted.entries()) {
        checked.push(
          await check({ services, caller, entity }, binding, stored.get(binding.datasetId), `body/bindings/${index}`),
        )
      }
      if (trail) trail.target = { type: 'contactpoints', id: String(entity.id), name: String(entity.name) }
      await transactWithEntry(db, trail, (tx) => replaceBindings(tx, entity, checked))
      return { body: await shownBindings(services, String(entity.id)) }
    },
  })

/** The resource of contact points belongs to another wing. */
export const bindingOperations = (contactPoint: Resource): readonly Operation<BindingServices>[] => [
  listOperation(contactPoint),
  replaceOperation(contactPoint),
]

function checkTogether({ type }: Entity, wanted: readonly Binding[]): void {
  if (wanted.length > 0 && type !== 'webhook') {
    throw new ApiError('conflict', `The contact point is of type "${type}", and only webhooks are told of changes.`)
  }
  const twice = wanted.findIndex(
    ({ datasetId }, index) => wanted.findIndex((one) => one.datasetId === datasetId) < index,
  )
  if (twice >= 0) throw invalid(`body/bindings/${twice}/datasetId`, 'must not be there twice')
}

type Asked = { readonly services: BindingServices; readonly caller: Caller; readonly entity: Entity }

/** One that stays as it is needs no right on its dataset. */
async function check(
  asked: Asked,
  binding: Binding,
  stored: StoredBinding | undefined,
  place: string,
): Promise<NewBinding> {
  if (stored && isDeepStrictEqual(binding, definitionOf(stored))) return { binding }
  const dataset = await reachedDataset(asked, binding, place)
  if (binding.filter) readRowFilter(dataset, binding.filter, `${place}/filter`)
  checkBox(binding, `${place}/bbox`)
  const { db } = asked.services
  const { state } = await openTopic(db, dataset)
  return { binding, start: { state, position: await endOfLog(db) } }
}

async function reachedDataset(
  { services, caller, entity }: Asked,
  { datasetId }: Binding,
  place: string,
): Promise<Dataset> {
  const scope = authorize(caller, { class: 'datasets', level: 'execute' }, datasetId)
  const found = await services.datasetCache.get(scope, datasetId).catch((error) => {
    if (!isNotFound(error)) throw error
    return undefined
  })
  if (!found || found.dataset.applicationId !== entity.applicationId) {
    throw invalid(`${place}/datasetId`, 'must be the id of a dataset of the same application')
  }
  return found.dataset
}

function checkBox({ bbox }: Binding, place: string): void {
  const [west = 0, south = 0, east = 0, north = 0] = bbox ?? []
  if (Math.abs(west) > 180 || Math.abs(east) > 180 || south < -90 || north > 90 || south > north) {
    throw invalid(place, 'must be west, south, east and north in degrees, such as [5.8, 47.2, 15.1, 55.1]')
  }
}

const definitionOf = ({ datasetId, operations, filter, bbox, debounceSeconds }: Binding): Binding => ({
  datasetId,
  operations,
  filter,
  bbox,
  debounceSeconds,
})

async function shownBindings({ db }: BindingServices, contactPointId: string) {
  const bindings = await readBindings(db, contactPointId)
  return {
    bindings: bindings.map((one) => ({
      ...definitionOf(one),
      lastEventId: writeEventId(one.era, one.position),
      problem: one.problem,
    })),
  }
}
