import type { FastifyRequest } from 'fastify'
import Type, { type Static, type TObject } from 'typebox'
import type { Scope } from '../access/acl.ts'
import type { Db } from '../db/db.ts'
import { FaultCollector, invalid } from '../errors.ts'
import { lastSegment } from '../http/file-name.ts'
import { type Operation, operation } from '../http/operation.ts'
import { refuseUnknown } from '../http/query-string.ts'
import { type Nearest, nearestFirst } from '../query/nearest.ts'
import { bodyPlaces, type Places, type Plan, parsePlan, type Query, queryPlaces } from '../query/plan.ts'
import { pageLinks } from '../resource/page-links.ts'
import type { Recent } from '../resource/recent.ts'
import type { Resource } from '../resource/resource.ts'
import { chooseFormat, formatNames, withKey } from './answer-format.ts'
import { createKnownDatasets, type KnownDataset } from './known-dataset.ts'
import { filterParameter, timeoutOf, timeoutParameter } from './query-parameters.ts'
import type { Sources } from './sources.ts'
import { statisticsOperation } from './statistics-operation.ts'
import { streamAnswer } from './stream-answer.ts'
import type { StreamSlots } from './stream-slots.ts'
import { readCount, totalRows } from './total-rows.ts'

const names = (description: string) => Type.Optional(Type.Array(Type.String({ maxLength: 1_000 }), { description }))
const limits = {
  limit: Type.Optional(Type.Integer({ minimum: 0 })),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
}
const answerParameters = {
  format: Type.Optional(Type.Enum([...formatNames], { description: 'What the answer is; Accept is asked otherwise' })),
  explain: Type.Optional(Type.Boolean({ description: 'Answer how the query would be carried out, instead of rows' })),
  timeout: timeoutParameter,
  filename: Type.Optional(Type.String({ maxLength: 255, description: 'Makes the answer a download of this name' })),
  count: Type.Optional(
    Type.String({
      description:
        '`exact` or `estimated`: X-Total-Count says how many rows there are without limit and offset, and Link where the other pages are. A dataset’s own parameter of this name comes first',
    }),
  ),
  srid: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 999_999, description: 'Of geometries in json and csv; 4326 otherwise' }),
  ),
}
const simpleSchema = Type.Object({
  ...answerParameters,
  attributes: names('The attributes to return, or aggregates of them'),
  filter: filterParameter,
  sort: names('The attributes to sort by; `-` in front sorts downwards'),
  ...limits,
})
const advancedSchema = Type.Object(answerParameters)
const bodySchema = Type.Object(
  {
    attributes: names('The attributes to return, or aggregates such as `sum(pop) as total`'),
    where: Type.Optional(Type.Object({}, { additionalProperties: true })),
    order: names('The attributes to sort by; `-` in front sorts downwards'),
    group: names('The attributes to group by'),
    sample: Type.Optional(
      Type.Object(
        { percentage: Type.Number(), method: Type.Optional(Type.String()), seed: Type.Optional(Type.Number()) },
        { additionalProperties: false },
      ),
    ),
    ...limits,
    distinct: names('DISTINCT ON these attributes'),
    nearest: Type.Optional(
      Type.Object(
        {
          attribute: Type.Optional(Type.String({ maxLength: 1_000, description: 'The geometry; the first otherwise' })),
          point: Type.Optional(Type.Array(Type.Number(), { minItems: 2, maxItems: 2 })),
          geometry: Type.Optional(Type.Object({}, { additionalProperties: true })),
          as: Type.Optional(Type.String({ maxLength: 63, default: 'distance' })),
        },
        {
          additionalProperties: false,
          description:
            'Nearest to a point [longitude, latitude] or GeoJSON geometry first, with the distance in metres as a column. Add $dwithin to where: it says how far to look, and uses the index.',
        },
      ),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ attributes: ['count(*) as rows'], where: {}, order: [], limit: 10, offset: 0 }],
  },
)

export type QueryDependencies = { db: Db; resource: Resource; sources: Sources; slots: StreamSlots }

type Services = { readonly known: Recent<KnownDataset>; readonly sources: Sources; readonly slots: StreamSlots }

export function queryOperations({ db, resource, sources, slots }: QueryDependencies): Operation[] {
  const known = createKnownDatasets(db, resource)
  const services = { known, sources, slots }
  const common = {
    path: `${resource.path}/{id}/query`,
    access: { class: 'datasets', level: 'execute' },
    ownParameters: true,
    success: {
      status: 200,
      description: 'The rows, or the plan',
      schema: Type.Unknown(),
      headers: ['X-Total-Count', 'Link'],
    },
    failures: [413, 429, 502, 504],
  } as const
  return [
    operation({
      ...common,
      id: 'datasets.query',
      method: 'GET',
      summary: 'Query a dataset',
      description: 'Parameters of the dataset itself are given as query parameters too.',
      query: simpleSchema,
      handle: (context, { params: { id = '' }, query }) => {
        const { attributes, filter, sort, limit, offset } = query
        const asked = { attributes, where: filter, order: sort, limit, offset }
        return answer(services, context, id, {
          parameters: query,
          schema: simpleSchema,
          query: asked,
          places: queryPlaces,
        })
      },
    }),
    operation({
      ...common,
      id: 'datasets.queryAdvanced',
      method: 'POST',
      summary: 'Query a dataset, with groups, samples and distinct rows',
      query: advancedSchema,
      body: bodySchema,
      columnsIn: 'where',
      handle: (context, { params: { id = '' }, query, body }) =>
        answer(services, context, id, {
          parameters: query,
          schema: advancedSchema,
          query: body,
          nearest: body.nearest,
          places: bodyPlaces,
        }),
    }),
    statisticsOperation(services, resource),
  ]
}

type Context = Parameters<Operation['handle']>[0] & { scope: Scope }

type Asked = {
  readonly parameters: Static<typeof advancedSchema>
  /** Of the parameters. */
  readonly schema: TObject
  readonly query: Query
  readonly nearest?: Nearest | undefined
  readonly places: Places
}

async function answer({ known, sources, slots }: Services, context: Context, id: string, asked: Asked) {
  const { parameters, query, schema } = asked
  const { dataset, attributes, parameters: own } = await known.get(context.scope, id)
  const formatName = chooseFormat(parameters.format, context.request.headers.accept)
  const faults = new FaultCollector()
  faults.attempt(() => refuseUnknown(context.tree, schema, own))
  faults.attempt(() => checkSrid(parameters.srid, formatName))
  const filename = faults.attempt(() => fileNameOf(parameters.filename))
  const read = faults.attempt(() => parsePlan(query, attributes, asked.places))
  const plan = faults.finish(read && nearestFirst(read, asked.nearest, attributes, 'body/nearest'))
  const source = await sources.open(dataset, context.tree)
  const timeoutMs = timeoutOf(parameters.timeout)
  const { signal } = context
  if (parameters.explain) {
    const giveBack = await slots.take(dataset.applicationId, signal)
    return { body: { plan: await source.explain(plan, { timeoutMs, signal }).finally(giveBack) } }
  }
  const shape = { geometry: formatName === 'csv' ? 'wkt' : 'geojson', srid: parameters.srid ?? 4326 } as const
  const shown = formatName === 'geojson' ? withKey(plan, dataset) : plan
  const count = own.has('count') ? undefined : readCount(parameters.count)
  return streamAnswer(context, slots, dataset.applicationId, {
    async begin(signal) {
      const end = performance.now() + timeoutMs
      const total = count && (await totalRows(source, plan, count, { timeoutMs, signal }))
      const leftMs = Math.max(1, Math.ceil(end - performance.now()))
      const rows = await source.rows(shown, shape, { timeoutMs: leftMs, signal })
      return total === undefined ? rows : { ...rows, headers: totalHeaders(context.request, plan, total) }
    },
    format: { name: formatName, filename, dataset, plan },
  })
}

function checkSrid(srid: number | undefined, format: string): void {
  if (srid === undefined || format !== 'geojson') return
  throw invalid('query/srid', 'must not be given with GeoJSON, which is always in 4326; use format=json or csv')
}

/** No path: where the file comes to lie is for the reader to say. */
function fileNameOf(given: string | undefined): string | undefined {
  if (given === undefined) return undefined
  const name = lastSegment(given)
  if (name === '') throw invalid('query/filename', 'must be the name of a file, such as places.csv')
  return name
}

/** The pages of the advanced form are asked for in its body, which no link can say. */
function totalHeaders({ method, url }: FastifyRequest, { limit, offset }: Plan, total: number): Record<string, string> {
  const links = method === 'POST' || limit === undefined ? {} : pageLinks(url, { limit, offset }, total)
  return { 'x-total-count': String(total), ...links }
}
