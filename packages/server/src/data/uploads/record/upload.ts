import Type from 'typebox'
import { defineResource, field } from '../../../api/resource/resource.ts'
import { sql } from '../../../kernel/db/sql.ts'
import type { TableRules } from '../readers/table-rules.ts'

const statuses = ['pending', 'processing', 'completed', 'failed', 'cancelled'] as const

const stages = ['unpacking', 'scanning', 'loading', 'transforming', 'indexing', 'overviews', 'publishing'] as const
/** Overviews are made after publishing; only older records have that stage. */
export type Stage = Exclude<(typeof stages)[number], 'overviews'>

/** The client's form fields besides the file. */
export type UploadFormFields = {
  readonly datasetId?: string
  readonly name?: string
  readonly description?: string
  readonly attribution?: string
  readonly sourceSrid?: number
  readonly targetSrid?: number
  readonly layer?: string
  readonly encoding?: string
  /** Fail instead of skipping rows. */
  readonly strict?: boolean
} & TableRules

/** The outcome of one layer. */
export type LayerResult = {
  readonly layer: string
  readonly datasetId: string | null
  readonly tileSourceId: string | null
  readonly featureCount: number | null
}

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()])
const id = Type.String({ format: 'uuid' })
const time = Type.String({ format: 'date-time' })
const count = Type.Integer({ minimum: 0 })
const readOnly = { mode: 'readOnly' } as const
const unsorted = { mode: 'readOnly', queryable: false } as const

export const errorSchema = Type.Object(
  {
    code: Type.Optional(Type.String()),
    message: Type.Optional(Type.String()),
    feature: Type.Optional(Type.Integer({ description: 'The number of the feature, from 1' })),
    line: Type.Optional(Type.Integer()),
    layer: Type.Optional(Type.String()),
    field: Type.Optional(Type.String({ description: 'The field of the upload that does not fit the file' })),
  },
  { description: 'Empty until the upload has failed' },
)
export const warningSchema = Type.Object({
  code: Type.String(),
  message: Type.String(),
  count: Type.Optional(Type.Integer({ description: 'The number of features it is true of' })),
  layer: Type.Optional(Type.String()),
})
const resultSchema = Type.Object({
  layer: Type.String(),
  datasetId: nullable(id),
  tileSourceId: nullable(id),
  featureCount: nullable(count),
})

const overviewsSchema = nullable(
  Type.Object(
    {
      status: Type.Enum(['pending', 'building', 'built', 'failed']),
      progress: Type.Number({ minimum: 0, maximum: 1 }),
    },
    { description: 'What becomes of the overviews of large tables, which follow `completed`; null: there are none' },
  ),
)

/** Of all datasets that the upload made: one that is not ready counts for the whole. */
const overviewsOf = sql`(
  SELECT jsonb_build_object(
    'status', (ARRAY['building', 'pending', 'failed', 'built'])[min(array_position(ARRAY['building', 'pending', 'failed', 'built'], o.state))],
    'progress', round(avg(o.progress)::numeric, 3))
  FROM svc.overviews o WHERE o.dataset_id IN (SELECT (made ->> 'datasetId')::uuid FROM jsonb_array_elements(results) AS made)
  HAVING count(*) > 0)`

/** Uploads: files on their way to datasets and maps. Sending a file creates a record; processing changes it. */
export const upload = defineResource({
  name: 'uploads',
  title: 'Upload',
  acl: 'uploads',
  ownerColumn: 'owner_id',
  verbs: ['list', 'get'],
  hasLiveFields: true,
  example: {},
  fields: {
    ownerId: field('integer', nullable(Type.Integer({ description: 'The user whose token came with it' })), readOnly),
    fileName: field('string', Type.String({ description: 'As the client called it' }), readOnly),
    path: field('string', Type.String({ description: 'An opaque name' }), readOnly),
    options: field('json', Type.Record(Type.String(), Type.Unknown()), unsorted),
    size: field('integer', Type.Integer({ description: 'In bytes' }), readOnly),
    status: field('string', Type.Enum([...statuses]), readOnly),
    stage: field('string', nullable(Type.Enum([...stages])), readOnly),
    progress: field('number', Type.Number({ minimum: 0, maximum: 1 }), readOnly),
    overviews: field('json', overviewsSchema, { ...unsorted, select: overviewsOf }),
    error: field('json', errorSchema, unsorted),
    warnings: field('json', Type.Array(warningSchema), unsorted),
    results: field('json', Type.Array(resultSchema, { description: 'One for each layer' }), readOnly),
    datasetId: field('uuid', nullable(id), readOnly),
    tileSourceId: field('uuid', nullable(id), readOnly),
    featureCount: field(
      'integer',
      nullable(Type.Integer({ minimum: 0, description: 'What was loaded; before the end, so far' })),
      readOnly,
    ),
    startedAt: field('datetime', nullable(time), readOnly),
    finishedAt: field('datetime', nullable(time), readOnly),
  },
  joins: {
    application: { one: 'Application', field: 'applicationId' },
    owner: { one: 'User', field: 'ownerId' },
  },
})
