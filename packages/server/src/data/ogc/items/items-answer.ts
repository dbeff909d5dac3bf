// Answers items: one page of features, as a stream.

import { linkHeader } from '../../../api/http/link-header.ts'
import type { Answer } from '../../../api/http/operation.ts'
import type { Filter } from '../../../query/filter/filter-tree.ts'
import type { Cell } from '../../../query/formats/cell.ts'
import type { Plan } from '../../../query/plan/plan.ts'
import type { CachedDataset } from '../../datasets/dataset-cache.ts'
import type { Source, SourceRows } from '../../datasets/dataset-type.ts'
import { keysetPage, type ReadPage } from '../../datasets/queries/keyset-page.ts'
import { timeoutOf } from '../../datasets/queries/query-parameters.ts'
import { streamAnswer, textBody } from '../../datasets/queries/stream-answer.ts'
import { totalRows } from '../../datasets/queries/total-rows.ts'
import { varyingHeaders } from '../answers.ts'
import { keyOf } from '../collections/collections.ts'
import { itemsPage } from '../html/html-items.ts'
import { htmlHeaders } from '../html/html-page.ts'
import type { Form } from '../negotiate.ts'
import type { CollectionContext, OgcServices } from '../ogc-services.ts'
import { cheapCount } from './count.ts'
import { featureCollectionFormat } from './feature-format.ts'
import { type ItemsLinks, itemsLinks } from './items-links.ts'
import { type ItemsParameters, type ItemsQuery, limits, readItemsQuery } from './items-query.ts'

export type ItemsRequest = {
  /** Of the collection, as the request wrote it. */
  readonly id: string
  readonly cached: CachedDataset
  readonly parameters: ItemsParameters
  readonly form: Form
}

/** One page of a collection, ready to be written. */
export type FeaturePage = {
  readonly answered: SourceRows
  readonly numberMatched: number | undefined
  /** The number of features, if it is known before they are written. */
  readonly numberReturned: number | undefined
  /** The parameters of the next page, once all features were read. */
  next(): Readonly<Record<string, string>> | undefined
}

export async function answerItems(context: CollectionContext, request: ItemsRequest): Promise<Answer> {
  const { cached, parameters } = request
  const { services } = context
  const query = await readItemsQuery(cached, parameters, context.tree, services)
  const source = await services.sources.open(cached.dataset, context.tree)
  const links = itemsLinks(context, request.id, request.form)
  let page: FeaturePage | undefined
  return streamAnswer(context, services.slots, cached.dataset.applicationId, {
    async begin(signal) {
      const options = { timeoutMs: timeoutOf(undefined), signal }
      const where = await fastestFilter(services, { cached, source }, query, options)
      page = await readPage({ source, query, cached, parameters, where }, options)
      const headers = headersOf(page, query, links)
      return { ...page.answered, headers: request.form === 'html' ? { ...headers, ...htmlHeaders } : headers }
    },
    write: (answered) =>
      textBody(answered, (columns) => {
        const { numberMatched, next } = page as FeaturePage
        const end = { numberMatched, links: () => links.all(next()) }
        if (request.form === 'html') return itemsPage({ ...request, root: links.root }, columns, end)
        const shape = {
          idName: keyOf(cached.dataset)?.name,
          properties: parameters.properties,
          swapsAxes: query.crs.swapsAxes,
        }
        return featureCollectionFormat(columns, shape, end)
      }),
  })
}

/** A walk keeps its filter, so that cursors stay good; each page may carry it out in another way. */
async function fastestFilter(
  { hasUnplacedRows }: OgcServices,
  opened: { readonly cached: CachedDataset; readonly source: Source },
  { plan, placed }: ItemsQuery,
  options: Options,
): Promise<Filter> {
  if (!placed || (await hasUnplacedRows(opened, placed.geometry, options))) return plan.where
  return placed.where
}

type Reading = {
  /** The filter as it is carried out. */
  readonly where: Filter
  readonly source: Source
  readonly query: ItemsQuery
  readonly cached: CachedDataset
  readonly parameters: ItemsParameters
}

type Options = { readonly timeoutMs: number; readonly signal: AbortSignal }

async function readPage(reading: Reading, options: Options): Promise<FeaturePage> {
  const { source, query, cached, parameters, where } = reading
  const { plan } = query
  if (parameters.resultType === 'hits') return hits(source, { ...plan, where }, options)
  const shape = { geometry: 'geojson', srid: query.crs.srid } as const
  const cursor = parameters.cursor === undefined ? undefined : { text: parameters.cursor, path: 'query/cursor' }
  const page = keysetPage({ plan, key: source.key ?? [], datasetId: cached.dataset.id }, cursor, limits.maximum)
  if (!page) return pageByOffset(reading, options)
  const read = await page.read(await source.rows(page.widen({ ...page.plan, where }), shape, options))
  return {
    answered: read.answered,
    numberMatched: await matched(reading, read, page.passed, options),
    numberReturned: read.rows,
    next: () => {
      const next = read.nextByKey()
      return next === undefined ? undefined : { cursor: next }
    },
  }
}

/** Counted once, on the first page; a page without a next one tells the number itself. */
async function matched(
  { source, query: { plan }, parameters, where }: Reading,
  { next, rows }: ReadPage,
  passed: number,
  options: Options,
): Promise<number | undefined> {
  if (rows === undefined || parameters.cursor !== undefined) return undefined
  if (next === undefined && (rows > 0 || passed === 0)) return passed + rows
  return cheapCount(source, { ...plan, where }, options)
}

async function hits(source: Source, plan: Plan, options: Options): Promise<FeaturePage> {
  const numberMatched = await totalRows(source, plan, 'exact', options)
  const answered = { columns: plan.columns, batches: [[]] }
  return { answered, numberMatched, numberReturned: 0, next: () => undefined }
}

/** Rows without a key have no other place than their number, so their pages go on by offset, up to its limit. */
async function pageByOffset({ source, query, where }: Reading, options: Options): Promise<FeaturePage> {
  const { plan, crs } = query
  const limit = plan.limit ?? limits.default
  const shape = { geometry: 'geojson', srid: crs.srid } as const
  const answered = await source.rows({ ...plan, where, limit: limit + 1 }, shape, options)
  const rows = (await Array.fromAsync(answered.batches)).flat() as Cell[][]
  const following = plan.offset + limit
  const hasNext = rows.length > limit && following <= limits.offset
  const shown = rows.slice(0, limit)
  return {
    answered: { columns: answered.columns, batches: [shown] },
    numberMatched: rows.length > limit ? undefined : plan.offset + rows.length,
    numberReturned: shown.length,
    next: () => (hasNext ? { offset: String(following) } : undefined),
  }
}

/** Links and counts are in headers too, for clients of formats that have no place for them. */
function headersOf(page: FeaturePage, { crs }: ItemsQuery, links: ItemsLinks): Record<string, string> {
  const { numberMatched, numberReturned } = page
  return {
    ...varyingHeaders,
    'content-crs': `<${crs.uri}>`,
    ...(numberMatched !== undefined && { 'ogc-numbermatched': String(numberMatched) }),
    ...(numberReturned !== undefined && { 'ogc-numberreturned': String(numberReturned) }),
    ...linkHeader(links.all(numberReturned === undefined ? undefined : page.next())),
  }
}
