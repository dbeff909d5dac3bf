import type { FastifyRequest } from 'fastify'
import Type, { type Static, type TObject } from 'typebox'
import type { Scope } from '../../../api/access/acl.ts'
import { downloadOf } from '../../../api/http/answers/download-headers.ts'
import { lastSegment } from '../../../api/http/answers/file-name.ts'
import { refuseUnknown } from '../../../api/http/input/query-string.ts'
import { type Operation, queryWeight } from '../../../api/http/operation.ts'
import { pageLinks } from '../../../api/resource/page-links.ts'
import { FaultCollector, invalid } from '../../../kernel/errors.ts'
import {
  answerFormat,
  chooseFormat,
  type FormatName,
  formatNames,
  isExport,
} from '../../../query/formats/answer-formats.ts'
import type { Nearest } from '../../../query/plan/nearest.ts'
import { bodyPaths, type Plan, type QueryPaths, type QueryRequest, queryPaths } from '../../../query/plan/plan.ts'
import { dataset as datasetResource } from '../dataset.ts'
import type { CachedDataset } from '../dataset-cache.ts'
import { exportAnswer } from '../exports/exports.ts'
import { statisticsOperation } from '../statistics/statistics-operation.ts'
import { duringTime } from '../time-setting.ts'
import { formatOf, shownPlan } from './answer-format.ts'
import { type CellParameters, cellSource, readCells } from './cell-query.ts'
import { beginRow, compileRow } from './compiled-rows.ts'
import { type CursorParameter, keysetHeaders, keysetPage } from './keyset-page.ts'
import { addQueryFaults, planIn } from './query-faults.ts'
import { requestedFilter, timeoutOf } from './query-parameters.ts'
import { advancedSchema, bodySchema, formatsWithSrid, simpleSchema } from './query-schemas.ts'
import { operation, type QueryServices } from './query-services.ts'
import { streamAnswer, textBody } from './stream-answer.ts'
import { readCount, totalRows } from './total-rows.ts'

const common = {
  path: `${datasetResource.path}/{id}/query`,
  access: { class: 'datasets', level: 'execute' },
  ownParameters: true,
  success: {
    status: 200,
    description: 'The rows, or the plan',
    schema: Type.Unknown(),
    fileTypes: formatNames.filter((name) => name !== 'json').map((name) => answerFormat(name).mediaTypes[0]),
    headers: ['X-Total-Count', 'Link'],
  },
  failures: [413, 416, 429, 502, 504],
} as const

export const queryOperations: readonly Operation<QueryServices>[] = [
  operation({
    ...common,
    id: 'datasets.query',
    weight: queryWeight,
    method: 'GET',
    summary: 'Query a dataset',
    description: 'Parameters of the dataset itself are given as query parameters too.',
    query: simpleSchema,
    handle: (context, { params: { id }, query }) => {
      const { attributes, sort, limit, offset } = query
      const request = { attributes, ...requestedFilter(query, context.tree), order: sort, limit, offset }
      return answer(context, id, {
        parameters: query,
        schema: simpleSchema,
        query: request,
        extras: { ...query, place: 'query' },
        paths: queryPaths,
      })
    },
    answerNow: (context, { id }) => beginRow(context, id),
  }),
  operation({
    ...common,
    id: 'datasets.queryAdvanced',
    audit: { none: 'It only reads.' },
    weight: queryWeight,
    method: 'POST',
    summary: 'Query a dataset, with groups, samples and distinct rows',
    query: advancedSchema,
    body: bodySchema,
    columnsIn: 'where',
    beforeBody: ({ scope, services }, { id }) => services.datasetCache.get(scope, id),
    async addFaults({ scope, services }, { params: { id }, body }, faults) {
      const { attributes } = await services.datasetCache.get(scope, id)
      addQueryFaults(bodySchema, body, attributes, faults)
    },
    handle: (context, { params: { id }, query, body }) =>
      answer(context, id, {
        parameters: query,
        schema: advancedSchema,
        query: body,
        extras: { ...body, place: 'body' },
        nearest: body.nearest,
        bodyCursor: body.cursor,
        paths: bodyPaths,
      }),
  }),
  statisticsOperation,
]

type Context = Parameters<Operation<QueryServices>['handle']>[0] & { scope: Scope }

type DatasetRequest = {
  readonly parameters: Static<typeof advancedSchema>
  /** The schema of the parameters. */
  readonly schema: TObject
  readonly query: QueryRequest
  readonly nearest?: Nearest | undefined
  /** What says more than a plan. */
  readonly extras: CellParameters & { readonly time?: string | undefined; readonly place: 'query' | 'body' }
  readonly bodyCursor?: string | undefined
  readonly paths: QueryPaths
}

async function answer(context: Context, id: string, datasetRequest: DatasetRequest) {
  const { datasetCache, sources, slots } = context.services
  const { parameters, schema } = datasetRequest
  const cached = await datasetCache.get(context.scope, id)
  const { attributes, parameters: own } = cached
  const formatName = chooseFormat(parameters.format, context.request.headers.accept)
  const faults = new FaultCollector()
  faults.attempt(() => refuseUnknown(context.tree, schema, own))
  faults.attempt(() => checkSrid(parameters.srid, formatName))
  faults.attempt(() => refusePaging(datasetRequest, own, formatName))
  const filename = faults.attempt(() => fileNameOf(parameters.filename))
  const extras = extrasOf(datasetRequest, cached)
  const cells = readCells({ ...extras, refused: rowParameters(datasetRequest, own) }, cached, faults)
  const rows = planIn(datasetRequest, attributes, faults)
  const filtered = faults.finish(
    faults.attempt(() => rows && duringTime(rows, extras.time, cached, `${extras.place}/time`)),
  )
  const opened = { dataset: cached.dataset, source: await sources.open(cached.dataset, context.tree), plan: filtered }
  const { dataset, source, plan } = cells ? cellSource(context.services.cells, opened, cells) : opened
  const key = source.key ?? []
  const page = keysetPage({ plan, key, datasetId: id }, cursorOf(datasetRequest, own))
  const timeoutMs = timeoutOf(parameters.timeout)
  const { signal, request } = context
  if (parameters.explain) {
    const giveBack = await slots.take(dataset.applicationId, signal)
    return { body: { plan: await source.explain(page?.plan ?? plan, { timeoutMs, signal }).finally(giveBack) } }
  }
  const shape = { geometry: answerFormat(formatName).geometry, srid: parameters.srid ?? 4326 }
  const shown = shownPlan(plan, dataset, formatName)
  if (isExport(formatName)) {
    return exportAnswer(context, context.services, {
      format: formatName,
      dataset,
      plan: shown,
      srid: shape.srid,
      filename,
      inputs: { ...Object.fromEntries([...own].map((name) => [name, context.tree[name]])), ...(cells && { cells }) },
      begin: (whileRead) => source.rows(shown, shape, { timeoutMs, signal: whileRead }),
    })
  }
  if (request.method === 'GET') {
    const rowRequest = { tree: context.tree, accept: request.headers.accept, cached, format: formatName }
    // What fails here fails below too, where somebody hears of it.
    compileRow(rowRequest, { source, plan, shown, shape }).catch(() => {})
  }
  const count = own.has('count') ? undefined : readCount(parameters.count)
  return streamAnswer(context, slots, dataset.applicationId, {
    async begin(signal) {
      const end = performance.now() + timeoutMs
      const total = count && (await totalRows(source, plan, count, { timeoutMs, signal }))
      const leftMs = Math.max(1, Math.ceil(end - performance.now()))
      const rows = await source.rows(page?.widen(shown) ?? shown, shape, { timeoutMs: leftMs, signal })
      const counted = total !== undefined && { 'x-total-count': String(total) }
      if (!page) return { ...rows, headers: { ...counted, ...offsetLinks(request, plan, total) } }
      const { answered, next } = await page.read(rows)
      return { ...answered, headers: { ...counted, ...keysetHeaders(request, page, next, total) } }
    },
    write: (answered) =>
      textBody(
        answered,
        (columns) => formatOf({ name: formatName, isDownload: filename !== undefined, dataset, plan }, columns),
        filename === undefined ? {} : downloadOf(filename),
      ),
  })
}

/** The dataset's own parameters come first. They are in the address only. */
function extrasOf({ extras: { place, ...given } }: DatasetRequest, { parameters: own }: CachedDataset) {
  const unlessOwn = <T>(name: string, value: T): T | undefined =>
    place === 'query' && own.has(name) ? undefined : value
  const { aggregate, value, zoom, time } = given
  return {
    place,
    time: unlessOwn('time', time),
    parameters: {
      aggregate: unlessOwn('aggregate', aggregate),
      value: unlessOwn('value', value),
      zoom: unlessOwn('zoom', zoom),
    },
  }
}

/** What is said of rows, which cells have not. */
function rowParameters(
  { query, nearest, parameters, bodyCursor, extras: { place } }: DatasetRequest,
  own: ReadonlySet<string>,
) {
  const { attributes, order, group, distinct, sample } = query
  const { cursor, count, srid } = parameters
  return {
    attributes,
    [place === 'query' ? 'sort' : 'order']: order,
    group,
    distinct,
    sample,
    nearest,
    'body/cursor': bodyCursor,
    'query/cursor': own.has('cursor') ? undefined : cursor,
    'query/count': own.has('count') ? undefined : count,
    'query/srid': srid === 4326 ? undefined : srid,
  }
}

/** A file has no pages: no header would tell of the next one. */
function refusePaging({ parameters, bodyCursor }: DatasetRequest, own: ReadonlySet<string>, name: FormatName): void {
  if (!isExport(name)) return
  const why = `must not be given with format=${name}, which is all rows in one file`
  if (bodyCursor !== undefined) throw invalid('body/cursor', why)
  for (const paging of ['cursor', 'count'] as const) {
    if (!own.has(paging) && parameters[paging] !== undefined) throw invalid(`query/${paging}`, why)
  }
}

/** The cursor: a query parameter, which Link headers use, or the body's field. */
function cursorOf({ parameters, bodyCursor }: DatasetRequest, own: ReadonlySet<string>): CursorParameter | undefined {
  const text = own.has('cursor') ? undefined : parameters.cursor
  if (text !== undefined && bodyCursor !== undefined) throw invalid('body/cursor', 'must not be given twice')
  if (bodyCursor !== undefined) return { text: bodyCursor, path: 'body/cursor' }
  return text === undefined ? undefined : { text, path: 'query/cursor' }
}

function checkSrid(srid: number | undefined, name: FormatName): void {
  if (srid === undefined || answerFormat(name).hasSrid) return
  const { title } = answerFormat(name)
  throw invalid('query/srid', `must not be given with ${title}, which is always in 4326; use one of ${formatsWithSrid}`)
}

/** A name, not a path: the reader decides where the file is saved. */
function fileNameOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const name = lastSegment(text)
  if (name === '') throw invalid('query/filename', 'must be the name of a file, such as places.csv')
  return name
}

/** No links for the advanced form: its pages are requested in the body. */
function offsetLinks({ method, url }: FastifyRequest, { limit, offset }: Plan, total: number | undefined) {
  return method === 'POST' || limit === undefined || total === undefined ? {} : pageLinks(url, { limit, offset }, total)
}
