// Tries rules before they are stored: what a user would see and write by them.
import Type, { type Static } from 'typebox'
import { authorize, type Caller, type Scope } from '../../../api/access/acl.ts'
import { type CallerUser, findCallerUser } from '../../../api/access/caller-user.ts'
import { freeRecord, nameList } from '../../../api/http/input/bounded-schemas.ts'
import { operationUsing, queryWeight } from '../../../api/http/operation.ts'
import type { BaseServices } from '../../../api/resource/resource.ts'
import { readUserReference, userIdSchema } from '../../../api/resource/user-id.ts'
import { ApiError, invalid } from '../../../kernel/errors.ts'
import type { SelectOptions } from '../../../query/execution/select-options.ts'
import { allOf, anyOf } from '../../../query/filter/filter-tree.ts'
import { objectWriter } from '../../../query/formats/json.ts'
import { everyRow } from '../../../query/plan/every-row.ts'
import { parsePlan } from '../../../query/plan/plan.ts'
import { attributesOf } from '../attribute-dto.ts'
import { dataset as datasetResource } from '../dataset.ts'
import type { Dataset } from '../dataset-record.ts'
import { findDataset } from '../find-dataset.ts'
import { timeoutOf } from '../queries/query-parameters.ts'
import type { QueryServices } from '../queries/query-services.ts'
import { totalRows } from '../queries/total-rows.ts'
import { checkRules } from './check-rules.ts'
import { narrow } from './narrowing.ts'
import type { WriteRule } from './narrowing-type.ts'
import { demandRecordWrite } from './record-view.ts'
import { rulesSchema } from './rule.ts'

const shownRows = 10

const bodySchema = Type.Object(
  {
    rules: Type.Optional(rulesSchema),
    userId: Type.Optional({ ...userIdSchema, description: 'A user of the application. Needs read on users' }),
    user: Type.Optional(
      Type.Object(
        {
          email: Type.Optional(Type.String({ maxLength: 320 })),
          roles: Type.Optional(nameList('The roles', { maxItems: 1_000, maxLength: 255 })),
          metadata: Type.Optional(freeRecord('metadataBytes')),
        },
        { additionalProperties: false, description: 'Somebody who need not be there. Without userId too: nobody' },
      ),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ rules: [{ levels: ['read'], roles: ['clerk'] }], user: { roles: ['clerk'] } }],
  },
)

const answerSchema = Type.Object({
  count: Type.Integer({ description: 'How many rows are seen' }),
  total: Type.Integer({ description: 'How many there are' }),
  attributes: Type.Array(Type.String(), { description: 'The attributes that are seen' }),
  rows: Type.Array(Type.Object({}, { additionalProperties: true }), { description: `The first ${shownRows} of them` }),
  mayAppend: Type.Boolean({ description: 'Whether rows may be added, if they fit the rules' }),
  mayChange: Type.Integer({ description: 'How many rows may be changed' }),
  mayDelete: Type.Integer({ description: 'How many rows may be deleted' }),
})

type TryServices = BaseServices & QueryServices

export const tryRules = operationUsing<TryServices>()({
  id: 'datasets.tryRules',
  audit: { none: 'It only reads.' },
  weight: queryWeight,
  method: 'POST',
  path: `${datasetResource.path}/{id}/rules/try`,
  summary: 'Try rules as a user',
  description: 'What a user would see and could write by rules that are not stored yet, or by those of the dataset.',
  access: { class: 'datasets', level: 'write' },
  body: bodySchema,
  beforeBody: ({ scope, services }, { id }) => services.datasetCache.get(scope, id),
  success: { status: 200, description: 'What the user would see', schema: answerSchema },
  failures: [409, 413, 429, 502, 504],
  async handle({ scope, services, signal }, { params: { id }, body }) {
    authorize(scope.caller, { class: 'datasets', level: 'execute' }, id)
    const stored = await wholeDataset(services, scope, id)
    demandRecordWrite(scope.caller, stored)
    const { rules = stored.rules ?? null } = body
    if (rules) checkRules(rules, stored)
    const dataset: Dataset = { ...stored, rules, rulesFor: 'all' }
    const user = await userOf(services, scope, stored.applicationId, body)
    const seen = narrow({ dataset, attributes: attributesOf(dataset) }, { ...nobody(scope.caller), user }).dataset
    const giveBack = await services.slots.take(dataset.applicationId, signal)
    return { body: await look(services, stored, seen, { timeoutMs: timeoutOf(undefined), signal }).finally(giveBack) }
  },
})

/** Rules for all bind keys without a user too, so the cached dataset may be only a part. */
async function wholeDataset({ db, datasetCache, sources }: TryServices, scope: Scope, id: string): Promise<Dataset> {
  const { dataset } = await datasetCache.get(scope, id)
  const stored = await findDataset(db, dataset.applicationId, dataset.id)
  if (!stored) throw new ApiError('not_found', 'There is no Dataset with this id.')
  return sources.current(stored)
}

const nobody = (caller: Caller): Caller => {
  const { user: _, keyMetadata: __, toolsOf: ___, ...others } = caller
  return { ...others, bearer: null, userId: null }
}

async function userOf(
  { db }: TryServices,
  scope: Scope,
  applicationId: string,
  { userId, user }: Static<typeof bodySchema>,
): Promise<CallerUser | null> {
  if (userId === undefined) return user ? { id: 0, email: '', roles: [], metadata: {}, ...user } : null
  if (user) throw invalid('body/user', 'must not be given together with userId')
  const id = readUserReference(userId, 'body/userId', scope)
  const found = id === null ? undefined : await findCallerUser(db, applicationId, id)
  if (!found) throw invalid('body/userId', 'must be the id of an enabled user of this application')
  return found
}

async function look({ sources }: TryServices, stored: Dataset, seen: Dataset, options: SelectOptions) {
  const [all, visible] = await Promise.all([sources.open(stored, {}), sources.open(seen, {})])
  const [total, count] = await Promise.all([
    totalRows(all, everyRow, 'exact', options),
    totalRows(visible, everyRow, 'exact', options),
  ])
  const plan = parsePlan({ limit: shownRows }, attributesOf(seen))
  const { batches } = await visible.rows(plan, { geometry: 'geojson', srid: 4326 }, options)
  const write = objectWriter(plan.columns)
  const rows = (await Array.fromAsync(batches)).flat().map((cells) => JSON.parse(write(cells)))
  const writes = seen.narrowing?.writes
  const writable = async (rules: readonly WriteRule[] | undefined): Promise<number> => {
    if (!rules || !seen.narrowing) return total
    const own = anyOf(rules.map((rule) => rule.rows))
    return totalRows(all, { ...everyRow, where: allOf([seen.narrowing.rows, own]) }, 'exact', options)
  }
  return {
    count,
    total,
    attributes: seen.attributes.map(({ name }) => name),
    rows,
    mayAppend: writes === undefined || writes.append.some(({ set }) => set !== undefined),
    mayChange: await writable(writes?.change),
    mayDelete: await writable(writes?.delete),
  }
}
