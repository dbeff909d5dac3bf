// Keyset paging of dataset queries: reads one page and makes the cursor of the next.
import type { FastifyRequest } from 'fastify'
import { linkHeader } from '../../../api/http/link-header.ts'
import { cursorUrl, pageLinks } from '../../../api/resource/page-links.ts'
import type { Batches } from '../../../kernel/db/guarded.ts'
import { invalid } from '../../../kernel/errors.ts'
import type { Cell } from '../../../query/formats/cell.ts'
import { completeOrder, whyNotByKey } from '../../../query/plan/keyset.ts'
import { decodeCursor, encodeCursor, type Walk } from '../../../query/plan/page-cursor.ts'
import type { Plan, PlanColumn } from '../../../query/plan/plan.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import type { SourceRows } from '../dataset-type.ts'

/** A page is buffered until its last row is known, because the cursor goes into a header. */
const maxPageRows = 1_000

/** The largest text of a buffered page. A larger page is streamed. */
const maxPageLength = 8 * 1024 * 1024

/** The cursor parameter; empty for the first page. */
export type CursorParameter = { readonly text: string; readonly path: string }

type PageRequest = { readonly plan: Plan; readonly key: readonly Attribute[]; readonly datasetId: string }

/** One page. */
export type KeysetPage = {
  /** The plan with the page's start position. */
  readonly plan: Plan
  /** Rows on the previous pages, if known. */
  readonly passed: number
  /** The plan for the source: one extra row, and the sort values. */
  widen(shown: Plan): Plan
  /** Strips what `widen` added from the answer. */
  read(answered: SourceRows): Promise<ReadPage>
}

export type ReadPage = {
  readonly answered: SourceRows
  /** The cursor of the next page, if there is one. That of a page too large to be buffered counts rows. */
  readonly next: string | undefined
  /** Set if the page was buffered: the number of its rows. */
  readonly rows?: number
  /** The cursor of the next page by its key, once all rows were read. */
  nextByKey(): string | undefined
}

/** Undefined if the query cannot be paged by key; if the caller sent a cursor, that is a 400 with the reason. */
export function keysetPage(
  { plan: request, key, datasetId }: PageRequest,
  cursor: CursorParameter | undefined,
  maxRows = maxPageRows,
): KeysetPage | undefined {
  const limit = request.limit ?? (cursor ? maxPageRows : 0)
  const plan: Plan = { ...request, limit }
  const reason = whyNotByKey(plan, key)
  if (cursor) checkCursor(plan, cursor, reason, maxRows)
  if (reason !== undefined || limit === 0 || limit > maxRows) return undefined
  const walk = { datasetId: datasetId.toLowerCase(), key, order: completeOrder(plan, key), where: plan.where }
  const begin = cursor?.text ? decodeCursor(cursor.text, walk, cursor.path) : undefined
  const passed = begin?.passed ?? plan.offset
  const start = begin?.position ? { after: begin.position } : { offset: passed }
  return createPage({ ...plan, ...start }, walk, { passed, limit })
}

function checkCursor(
  { limit, offset }: Plan,
  { path }: CursorParameter,
  reason: string | undefined,
  maxRows: number,
): void {
  if (reason !== undefined) throw invalid(path, `is not possible: ${reason}. Use limit and offset`)
  if (offset > 0) throw invalid(path, 'must not be given together with offset')
  if (!limit || limit > maxRows) throw invalid(path, `needs a limit of 1 to ${maxRows}`)
}

function createPage(plan: Plan, walk: Walk, { passed, limit }: { passed: number; limit: number }): KeysetPage {
  const { after, offset } = plan
  const sortKeys = walk.order.map(({ by }): PlanColumn => ({ ...by, name: 'sort key', isSortKey: true }))
  const cursorBehind = (position?: Cell[]) => encodeCursor(walk, { passed: passed + limit, position })
  return {
    plan,
    passed,
    widen: (shown) => ({
      ...shown,
      ...(after && { after }),
      offset,
      limit: limit + 1,
      columns: [...shown.columns, ...sortKeys],
    }),
    async read(answered) {
      const width = answered.columns.length - sortKeys.length
      const columns = answered.columns.slice(0, width)
      const { rows, rest } = await readAhead(answered.batches)
      const cursorAfter = rows.length > limit ? cursorBehind(rows[limit - 1]?.slice(width)) : undefined
      if (!rest) {
        const shown = narrowed(rows.slice(0, limit), width)
        return {
          answered: { columns, batches: [shown] },
          next: cursorAfter,
          rows: shown.length,
          nextByKey: () => cursorAfter,
        }
      }
      let next = cursorAfter
      const onCut = (last: Cell[]) => {
        next = cursorBehind(last)
      }
      const batches = firstRows(resumed(rows, rest), { limit, width, onCut })
      return { answered: { columns, batches }, next: cursorAfter ?? cursorBehind(), nextByKey: () => next }
    },
  }
}

/** Buffers all rows, up to the limit of a stream; `rest` is where the others come from. */
async function readAhead(batches: Batches): Promise<{ rows: Cell[][]; rest?: AsyncIterator<Cell[][]> }> {
  if (Array.isArray(batches)) return { rows: batches.flat() }
  const rest = batches[Symbol.asyncIterator]()
  const rows: Cell[][] = []
  let length = 0
  for (;;) {
    const { done, value } = await rest.next()
    if (done) return { rows }
    for (const cells of value as Cell[][]) {
      rows.push(cells)
      for (const cell of cells) length += cell?.length ?? 0
    }
    if (length > maxPageLength) return { rows, rest }
  }
}

async function* resumed(rows: Cell[][], rest: AsyncIterator<Cell[][]>): AsyncGenerator<Cell[][]> {
  yield rows
  yield* { [Symbol.asyncIterator]: () => rest }
}

type Cut = { readonly limit: number; readonly width: number; onCut(last: Cell[]): void }

/**
 * The first rows without their sort values; `onCut` gets those of the last if more rows follow. Reads to the end although
 * the rest is not needed, because an unread answer would keep its connection.
 */
async function* firstRows(batches: AsyncIterable<Cell[][]>, { limit, width, onCut }: Cut): AsyncGenerator<Cell[][]> {
  let left = limit
  let last: Cell[] | undefined
  for await (const batch of batches) {
    const rows = batch.slice(0, left)
    last = rows.at(-1)?.slice(width) ?? last
    if (batch.length > left && last) onCut(last)
    left -= rows.length
    if (rows.length > 0) yield narrowed(rows, width)
  }
}

function narrowed(rows: Cell[][], width: number): Cell[][] {
  for (const cells of rows) cells.length = width
  return rows
}

/** Link headers of the other pages. The advanced form takes its cursor in the body, so only the next page has a URL. */
export function keysetHeaders(
  { method, url }: Pick<FastifyRequest, 'method' | 'url'>,
  { passed, plan: { limit = 0 } }: KeysetPage,
  next: string | undefined,
  total: number | undefined,
): Record<string, string> {
  const nextUrl = next && cursorUrl(url, next)
  const others = method !== 'POST' && total !== undefined ? total : undefined
  if (others !== undefined) return pageLinks(url, { limit, offset: passed }, others, nextUrl ?? null)
  return linkHeader(nextUrl === undefined ? [] : [{ rel: 'next', href: nextUrl }])
}
