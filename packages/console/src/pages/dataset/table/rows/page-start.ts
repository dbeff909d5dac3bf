/** Chooses how to fetch a page of rows, cheapest first: OFFSET reads and drops all rows before the page, a keyset does not. */

export type PageStart<Row> =
  /** After the previous page. */
  | { by: 'cursor'; cursor: string }
  /** The rows after this one. */
  | { by: 'after'; row: Row }
  /** This row and those after it. */
  | { by: 'from'; row: Row }
  /** The rows before this one, fetched in reverse order. */
  | { by: 'before'; row: Row }
  /** An offset from the end, fetched in reverse order. */
  | { by: 'end'; offset: number; rows: number }
  | { by: 'offset'; offset: number }

export interface LoadedPages<Row> {
  pageRows: number
  /** The cursor of a page. */
  cursorOf(index: number): string | undefined
  firstRowOf(index: number): Row | undefined
  lastRowOf(index: number): Row | undefined
  /** The first row that a page had before a change. */
  anchorOf(index: number): Row | undefined
  /** Only if it is exact, or was before a change. */
  total: number | undefined
  /** Whether reverse order works: only without nulls in the sort keys, because nulls are last in both directions. */
  isReversible: boolean
  /** Whether there is a single sort key, so that "before" and "after" a row are simple filters. */
  hasSingleKey: boolean
}

/** From this offset on, the table says that loading is slow: about 0.2 s with the embedded database. */
const slowOffset = 100_000

export function startOf<Row>(index: number, pages: LoadedPages<Row>): PageStart<Row> {
  const { pageRows } = pages
  const offset = index * pageRows
  if (index === 0) return { by: 'offset', offset: 0 }
  const cursor = pages.cursorOf(index)
  if (cursor !== undefined) return { by: 'cursor', cursor }
  const preceding = pages.hasSingleKey ? pages.lastRowOf(index - 1) : undefined
  if (preceding !== undefined) return { by: 'after', row: preceding }
  const following = pages.hasSingleKey ? pages.firstRowOf(index + 1) : undefined
  if (following !== undefined) return { by: 'before', row: following }
  const counted = countedStart(offset, pages)
  // Deep in the table, staying at a row is worth more than the exact number of rows before it.
  const anchor = pages.hasSingleKey && isSlow(counted) ? pages.anchorOf(index) : undefined
  return anchor === undefined ? counted : { by: 'from', row: anchor }
}

/** By the number of rows to skip, from the nearer end. */
function countedStart<Row>(offset: number, { pageRows, total, isReversible }: LoadedPages<Row>): PageStart<Row> {
  const end = total === undefined ? 0 : Math.min(offset + pageRows, total)
  if (isReversible && total !== undefined && end > offset && total - end < offset)
    return { by: 'end', offset: total - end, rows: end - offset }
  return { by: 'offset', offset }
}

export const isSlow = <Row>(start: PageStart<Row>): boolean => 'offset' in start && start.offset >= slowOffset

/** Whether to fetch even during scrolling. */
export const isCheap = <Row>(start: PageStart<Row>): boolean => start.by !== 'offset' && start.by !== 'end'
