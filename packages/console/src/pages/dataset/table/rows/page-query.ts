/** The query for a page of rows. */
import type { Client, Dataset, DatasetQuery, JsonObject } from '@graticule/client'
import { isSortable } from '../../attribute.ts'
import { keyOf } from '../../dataset.ts'
import { completeOrder, reversed } from '../../rank.ts'
import { orderOf, parseSort, type SortKey } from '../../sort.ts'
import { bothOf } from '../../view.ts'
import type { Row } from '../selection.ts'
import type { PageAnswer } from './page-cache.ts'
import type { PageStart } from './page-start.ts'

export interface TableQuery {
  dataset: Dataset
  where: JsonObject | undefined
  sort: string | undefined
}

/** Without geometry, which is large; it is fetched only for selected rows. */
export function tableAttributes({ attributes }: Dataset): Dataset['attributes'] {
  const shown = attributes.filter(({ type }) => type !== 'geometry')
  return shown.length > 0 ? shown : attributes
}

/** Drops sort keys that do not exist or cannot be sorted, because a URL may be older than the dataset. */
export function orderFor({ dataset, sort }: Pick<TableQuery, 'dataset' | 'sort'>): SortKey[] {
  const sortable = dataset.attributes.filter(({ type }) => isSortable(type)).map(({ name }) => name)
  return completeOrder(
    parseSort(sort).filter(({ attribute }) => sortable.includes(attribute)),
    keyOf(dataset),
  )
}

/** Whether the order allows reverse paging and keyset filters instead of OFFSET. */
export function movesOf({ dataset, sort }: TableQuery): { isReversible: boolean; hasSingleKey: boolean } {
  const key = keyOf(dataset)
  const sorted = parseSort(sort)
  const isNeverNull = (name: string) => dataset.attributes.some((one) => one.name === name && !one.nullable)
  return {
    isReversible: key.length > 0 && sorted.every(({ attribute }) => isNeverNull(attribute)),
    hasSingleKey: key.length === 1 && sorted.length === 0,
  }
}

export function pageFetcher(client: Client, tableQuery: TableQuery) {
  const attributes = tableAttributes(tableQuery.dataset).map(({ name }) => name)
  const order = orderFor(tableQuery)
  return async (start: PageStart<Row>, limit: number, signal: AbortSignal): Promise<PageAnswer<Row>> => {
    let next: string | undefined
    const onResponse = (response: Response) => {
      next = nextCursor(response.headers.get('link'))
    }
    const query = { attributes, ...queryFrom(start, tableQuery, order, limit) }
    const cursor = start.by === 'cursor' ? { cursor: start.cursor } : {}
    const rows = await client.datasets.query<Row>(tableQuery.dataset.id, query, { signal, onResponse, ...cursor })
    if (isBackward(start)) return { rows: rows.reverse() }
    // A cursor is valid only for the filter it was issued for.
    return 'row' in start ? { rows } : { rows, next }
  }
}

const isBackward = (start: PageStart<Row>): boolean => start.by === 'before' || start.by === 'end'

function queryFrom(
  start: PageStart<Row>,
  tableQuery: TableQuery,
  order: readonly SortKey[],
  limit: number,
): DatasetQuery {
  const where = 'row' in start ? bothOf(tableQuery.where, besideRow(start, tableQuery.dataset)) : tableQuery.where
  return {
    order: orderOf(isBackward(start) ? reversed(order) : order),
    limit: start.by === 'end' ? start.rows : limit,
    ...(where && { where }),
    ...('offset' in start && start.offset > 0 && { offset: start.offset }),
  }
}

const comparisons = { before: '$lt', after: '$gt', from: '$gte' } as const

function besideRow({ by, row }: { by: keyof typeof comparisons; row: Row }, dataset: Dataset): JsonObject {
  const operator = comparisons[by]
  return Object.fromEntries(keyOf(dataset).map(({ name }) => [name, { [operator]: row[name] ?? null }]))
}

/** The cursor in the URL of a `Link` header. */
function nextCursor(link: string | null): string | undefined {
  const [, address = ''] = /<([^>]*)>\s*;\s*rel="?next\b/.exec(link ?? '') ?? []
  return new URLSearchParams(address.slice(address.indexOf('?') + 1)).get('cursor') ?? undefined
}
