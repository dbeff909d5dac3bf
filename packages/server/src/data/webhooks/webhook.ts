import Type, { type Static } from 'typebox'
import { freeObject, uuidText } from '../../api/http/input/bounded-schemas.ts'

const operations = ['insert', 'update', 'delete', 'truncate'] as const

const nullable = <T extends Type.TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })

const { datasetId, ...rest } = {
  datasetId: uuidText({ description: 'Of the application of the contact point' }),
  operations: Type.Array(Type.Enum([...operations]), {
    minItems: 1,
    maxItems: operations.length,
    uniqueItems: true,
    description: 'Only what these did; all by default',
  }),
  filter: nullable(
    freeObject('bodyBytes'),
    'Only rows that match, in the grammar of `filter` in queries, as they are when the delivery is made. Deletions pass, and so ' +
      'do changes whose keys are not known. Needs a primary key of one column of type integer, string or uuid',
  ),
  bbox: nullable(
    Type.Array(Type.Number(), { minItems: 4, maxItems: 4 }),
    'West, south, east, north: only statements that wrote in this box, or whose place is not known',
  ),
  debounceSeconds: Type.Integer({
    minimum: 0,
    maximum: 3600,
    description: 'Gathers the changes of so many seconds, from the first one on, into one delivery; 0 by default',
  }),
  lastEventId: Type.String({
    maxLength: 200,
    description: 'Up to this event of the change feed the contact point was told. Read-only',
  }),
  problem: nullable(
    Type.String({ maxLength: 2_000 }),
    'Why changes are not told, or not filtered. Read-only: what is written is ignored',
  ),
}

/** Which changes of a dataset a contact point is told of. */
export const webhookSchema = Type.Object({ datasetId, ...rest })

/** What was read can be written again. */
export const webhookInputSchema = Type.Object(
  { datasetId, ...Type.Partial(Type.Object(rest)).properties },
  { additionalProperties: false },
)

/** A webhook with its defaults. */
export type Webhook = {
  readonly datasetId: string
  readonly operations: readonly string[]
  readonly filter: object | null
  readonly bbox: readonly number[] | null
  readonly debounceSeconds: number
}

export const withDefaults = ({ operations: chosen, ...rest }: Static<typeof webhookInputSchema>): Webhook => ({
  datasetId: rest.datasetId.toLowerCase(),
  operations: operations.filter((name) => chosen?.includes(name) ?? true),
  filter: rest.filter ?? null,
  bbox: rest.bbox ?? null,
  debounceSeconds: rest.debounceSeconds ?? 0,
})
