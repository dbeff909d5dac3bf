/**
 * The cache of row pages. Cursors are small, so those of dropped pages stay. A stale page is shown until it is loaded again, but
 * nothing is derived from its rows.
 */

export interface PageAnswer<Row> {
  rows: Row[]
  /** The cursor of the next page. */
  next?: string | undefined
}

export interface PageCache<Row> {
  /** Whether the page is loaded and not stale. */
  has(index: number): boolean
  row(index: number): Row | undefined
  /** The loaded pages, also stale ones. */
  loaded(): ReadonlyMap<number, readonly Row[]>
  firstRowOf(index: number): Row | undefined
  lastRowOf(index: number): Row | undefined
  cursorOf(index: number): string | undefined
  /** Stores a page and evicts those farthest from the middle row of the viewport. */
  keep(index: number, answer: PageAnswer<Row>, middle: number): void
  /** Where rows have moved from a page on, the cursors behind that page are dropped too. */
  markStale(isStale: (index: number) => boolean, movedFrom: number | null): void
}

export function createPageCache<Row>(pageRows: number, keptPages: number): PageCache<Row> {
  const pages = new Map<number, Row[]>()
  const cursors = new Map<number, string>()
  const stale = new Set<number>()
  const fresh = (index: number) => (stale.has(index) ? undefined : pages.get(index))
  return {
    has: (index) => fresh(index) !== undefined,
    row: (index) => pages.get(Math.floor(index / pageRows))?.[index % pageRows],
    loaded: () => pages,
    firstRowOf: (index) => fresh(index)?.[0],
    lastRowOf: (index) => fresh(index)?.at(-1),
    cursorOf: (index) => cursors.get(index),
    markStale(isStale, movedFrom) {
      for (const index of pages.keys()) if (isStale(index)) stale.add(index)
      if (movedFrom === null) return
      for (const index of [...cursors.keys()]) if (index > movedFrom) cursors.delete(index)
    },
    keep(index, { rows, next }, middle) {
      pages.set(index, rows)
      stale.delete(index)
      if (next !== undefined) cursors.set(index + 1, next)
      const distance = (page: number) => Math.abs(page + 0.5 - middle / pageRows)
      const farthest = [...pages.keys()].toSorted((one, other) => distance(other) - distance(one))
      for (const far of farthest.slice(0, Math.max(0, pages.size - keptPages))) pages.delete(far)
    },
  }
}

/** The missing pages: visible ones first, then the nearest ones beyond. */
export function missingPages(
  { first, last, margin }: { first: number; last: number; margin: number },
  pageRows: number,
  total: number | undefined,
  has: (index: number) => boolean,
): number[] {
  const end = total === undefined ? Number.POSITIVE_INFINITY : Math.max(0, total - 1)
  const pageOf = (row: number) => Math.max(0, Math.floor(Math.min(row, end) / pageRows))
  const inView = span(pageOf(first), pageOf(last))
  const distance = (page: number) => Math.abs(page + 0.5 - (first + last) / 2 / pageRows)
  const around = span(pageOf(first - margin), pageOf(last + margin)).toSorted((a, b) => distance(a) - distance(b))
  return [...new Set([...inView, ...around])].filter((index) => !has(index))
}

const span = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at)
