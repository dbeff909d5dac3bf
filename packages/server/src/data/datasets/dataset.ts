import { isDeepStrictEqual } from 'node:util'
import Type from 'typebox'
import { denied, reachesId, type Scope, scopeOf } from '../../api/access/acl.ts'
import type { AclLevel } from '../../api/access/grants.ts'
import { headerRecord, nameList, uuidText } from '../../api/http/input/bounded-schemas.ts'
import { changedOf, demandRepointing } from '../../api/resource/references.ts'
import { type BaseServices, defineResource, type Entity, field } from '../../api/resource/resource.ts'
import { standardOperations } from '../../api/resource/standard-operations.ts'
import { readUserReference, userReference } from '../../api/resource/user-id.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import { ApiError, invalid } from '../../kernel/errors.ts'
import { attributeSchema } from './attribute-dto.ts'
import type { DatasetDraft } from './dataset-record.ts'
import type { Inspection } from './dataset-type.ts'
import { datasetTypeNames, datasetTypeOf } from './dataset-types.ts'
import { sealedSecrets } from './find-dataset.ts'
import { checkOverviewSetting } from './overview-setting.ts'
import { readDeclarations } from './parameters.ts'
import { checkRules } from './rules/check-rules.ts'
import { demandRecordWrite, recordMetadata, recordView } from './rules/record-view.ts'
import { boundCallers, type Ruled, rulesSchema } from './rules/rule.ts'
import { sealHeaders } from './secret-headers.ts'
import type { Sources } from './sources.ts'
import { checkSridSetting } from './srid-setting.ts'
import { checkTimeSetting } from './time-setting.ts'

const secretsSchema = Type.Union([
  Type.Object({ headers: Type.Optional(headerRecord()) }, { additionalProperties: false }),
  Type.Null(),
])

const overviewsSchema = Type.Union(
  [
    Type.Object({
      status: Type.Enum(['pending', 'building', 'built', 'failed']),
      progress: Type.Number({ minimum: 0, maximum: 1 }),
    }),
    Type.Null(),
  ],
  {
    description:
      'What becomes of the overviews of a large table, from which low zooms of maps are drawn; null: there are none',
  },
)

const overviewsOf = sql`(
  SELECT jsonb_build_object('status', o.state, 'progress', round(o.progress::numeric, 3))
  FROM svc.overviews o WHERE o.dataset_id = id)`

const overviewTag = sql`(
  SELECT concat_ws('.', o.state, (o.progress * 1000)::int) FROM svc.overviews o WHERE o.dataset_id = id)`

/**
 * Datasets: named, queryable views of data. A source is inspected when it is stored, so a wrong one is refused at once.
 */
export type DatasetServices = BaseServices & { readonly sources: Sources }

export const dataset = defineResource<DatasetServices>({
  name: 'datasets',
  title: 'Dataset',
  acl: 'datasets',
  ownerColumn: 'owner_id',
  // DELETE is in uploads/, because it also removes what an upload made.
  verbs: ['list', 'create', 'get', 'replace', 'patch'],
  liveTag: overviewTag,
  writeFailures: [502, 504],
  example: { type: 'sql', name: 'One', source: 'SELECT 1 AS one' },
  fields: {
    ownerId: userReference('writable'),
    type: field('string', Type.Enum(datasetTypeNames), { required: true }),
    source: field('string', Type.String({ minLength: 1, maxLength: 100_000 }), { required: true }),
    name: field('string', Type.String({ minLength: 1, maxLength: 255 }), { required: true }),
    description: field('string', Type.String({ maxLength: 10_000 }), { default: '', isKeptOnReplace: true }),
    attributes: field('json', Type.Array(attributeSchema), { mode: 'readOnly', queryable: false }),
    bytes: field('integer', Type.Union([Type.Integer(), Type.Null()]), { mode: 'readOnly' }),
    rowEstimate: field(
      'integer',
      Type.Union([Type.Integer(), Type.Null()], {
        description:
          'About how many rows a table had when it was uploaded or this record last stored; null where that is not known',
      }),
      { mode: 'readOnly' },
    ),
    overviews: field('json', overviewsSchema, { mode: 'readOnly', queryable: false, select: overviewsOf }),
    databaseId: field('uuid', uuidText({ description: 'The default database unless it is given' }), {
      required: false,
      default: undefined,
      isKeptOnReplace: true,
    }),
    secrets: field('string', secretsSchema, { mode: 'writeOnly' }),
    rules: field('json', rulesSchema, { isKeptOnReplace: true, queryable: false }),
    rulesFor: field(
      'string',
      Type.Enum([...boundCallers], {
        description: 'Whom rules bind: `users`, and keys of users; `all`: also keys that stand for no user',
      }),
      { default: 'users', isKeptOnReplace: true },
    ),
  },
  joins: {
    application: { one: 'Application', field: 'applicationId' },
    database: { one: 'Database', field: 'databaseId' },
    owner: { one: 'User', field: 'ownerId' },
  },
  view: async ({ caller }) => recordView(caller),
  async prepare({ values, previous, input, applicationId, leaving }, scope, { db, secrets, sources }) {
    if (previous) demandRecordWrite(scope.caller, previous)
    const next: Entity = { ...previous, ...values }
    const repointed = changedOf(references, previous, values)
    if (previous) demandRepointing(scope, repointed, 'datasets')
    if (values.metadata !== undefined) checkSettings(values.metadata as Entity)
    const databaseId =
      repointed.length === 0
        ? String(previous?.databaseId)
        : await allowedDatabase(sources, scope, applicationId, {
            named: values.databaseId,
            stored: previous?.databaseId,
          })
    const ownerId = ownerOf(values.ownerId, previous?.ownerId, scope)
    const sealed =
      values.secrets === undefined
        ? await keptHeaders(db, next, previous)
        : sealHeaders(values.secrets, secrets, applicationId)
    const draft = draftOf(next, { databaseId, applicationId, secrets: sealed })
    const isUnchanged = changedOf([...references, 'metadata', 'secrets'], previous, values).length === 0
    // `{}` asks for nothing but to read the columns anew.
    const mayFail = isUnchanged && Object.keys(input).length > 0
    const mayListTables = reaches(scope, 'execute', databaseId)
    const facts: Partial<Inspection> = await sources
      .inspect(draft, { signal: leaving(), mayListTables })
      .catch((error) => {
        // A name can be changed though the table is gone, or its server does not answer.
        if (mayFail && error instanceof ApiError) return {}
        throw error
      })
    const { rules } = values as Ruled
    if (rules && facts.attributes) checkRules(rules, { ...draft, attributes: facts.attributes })
    if (isTimeSet(values, previous) && facts.attributes) checkTimeSetting({ ...draft, attributes: facts.attributes })
    return {
      ...values,
      ownerId,
      databaseId,
      ...facts,
      ...(values.secrets !== undefined && { secrets: sealed }),
    }
  },
})

/** What says which rows a dataset has. */
const references = ['type', 'source', 'databaseId']

function checkSettings(metadata: Entity): void {
  readDeclarations(metadata.parameters)
  checkOverviewSetting(metadata)
  checkSridSetting(metadata)
}

const timeIn = (entity: Entity | undefined): unknown => (entity?.metadata as Entity | undefined)?.time

/** A stored setting stays though its column was dropped since. */
const isTimeSet = (values: Entity, previous: Entity | undefined): boolean =>
  values.metadata !== undefined && !isDeepStrictEqual(timeIn(values), timeIn(previous))

const draftOf = (
  { type, source, metadata }: Entity,
  settled: Pick<DatasetDraft, 'applicationId' | 'databaseId' | 'secrets'>,
): DatasetDraft => ({
  ...settled,
  type: String(type),
  source: String(source),
  metadata: metadata as DatasetDraft['metadata'],
  attributes: [],
})

export const datasetOperations = standardOperations(dataset, {
  metadata: recordMetadata,
  list: {
    parameters: {
      tags: Type.Optional(nameList('Datasets with any of these metadata.tags', { maxItems: 100 })),
    },
    where: ({ tags }) => (tags === undefined ? [] : [sql`metadata -> 'tags' ?| ${tags as string[]}::text[]`]),
  },
})

/** An unchanged owner was checked when it was set. */
function ownerOf(wanted: unknown, current: unknown, scope: Scope): unknown {
  if (scope.ownerId !== null) return scope.ownerId
  if (wanted === undefined || String(wanted) === String(current)) return current ?? null
  return readUserReference(wanted, 'body/ownerId', scope)
}

/**
 * The database must belong to the application and be readable by the caller. The default one need not be, unless it is named:
 * datasets are created in it without naming it.
 */
async function allowedDatabase(
  sources: Sources,
  scope: Scope,
  applicationId: string,
  { named, stored }: { readonly named: unknown; readonly stored: unknown },
): Promise<string> {
  const wanted = named ?? stored
  const id = typeof wanted === 'string' ? wanted.toLowerCase() : undefined
  const databaseId = await sources.findDatabase(applicationId, id)
  if (!databaseId) throw absentDatabase()
  if (id === undefined || reaches(scope, 'read', id)) return databaseId
  if (id !== stored) throw absentDatabase()
  if (id === (await sources.findDatabase(applicationId, undefined))) return databaseId
  throw denied('Changing source or type needs what creating the dataset needs: read access to its database.')
}

const absentDatabase = (): ApiError => invalid('body/databaseId', 'must be the id of a database of this application')

const reaches = ({ caller }: Scope, level: AclLevel, databaseId: string): boolean =>
  reachesId(scopeOf(caller, 'databases', level), databaseId)

/**
 * Secret headers are kept only while the origin stays the same: a user who may edit a dataset must not be able to send
 * them elsewhere.
 */
async function keptHeaders(db: Db, next: Entity, previous: Entity | undefined): Promise<string | null> {
  if (!previous || !datasetTypeOf(next).secretsOrigin) return null
  const sealed = await sealedSecrets(db, String(previous.id))
  if (sealed && originOf(next) !== originOf(previous)) {
    throw invalid('body/secrets', 'is required when the source leads to another host; null removes the secrets')
  }
  return sealed
}

const originOf = (entity: Entity): string | undefined => datasetTypeOf(entity).secretsOrigin?.(String(entity.source))
