/** Loads the pages of a range of rows, one after the other, into the cache. */
import { createPageCache, missingPages, type PageAnswer, type PageCache } from './page-cache.ts'
import { isCheap, isSlow, startOf } from './page-start.ts'
import type { RowPagesOptions, RowPagesState, RowPagesStore } from './row-pages.ts'

/** Rows beyond the viewport that are prefetched. */
const margin = 60

interface Flight {
  index: number
  abort: AbortController
  /** Begun before a change, so that its answer may be stale. */
  isOld: boolean
}

export interface PageLoader<Row> {
  cache: PageCache<Row>
  total: {
    /** It was exact before the last change. */
    isOld: boolean
    /** No page has told it since. */
    isCountNeeded: boolean
    /** The numbers of rows since then are not exact: they are counted from the old end, or not at all. */
    isGuessed: boolean
  }
  /** Sets the visible rows. Returns whether the next page is cheap to load, or there is none. */
  want(first: number, last: number): boolean
  /** Loads the next missing page, unless it is on its way. */
  next(): void
  drop(): void
  /** What is on its way was asked for before a change. */
  doubt(): void
}

/** `onSettled` is called when no page is missing, and when one could not be loaded. */
export function createPageLoader<Row>(
  options: RowPagesOptions<Row>,
  { getState, update }: RowPagesStore,
  onSettled: () => void,
): PageLoader<Row> {
  const { pageRows = 200, keptPages = 20 } = options
  const cache = createPageCache<Row>(pageRows, keptPages)
  const total = { isOld: false, isCountNeeded: false, isGuessed: false }
  let range = { first: 0, last: 0 }
  let flight: Flight | null = null

  const knownTotal = () => (getState().total?.isExact ? getState().total?.rows : undefined)
  const anchorOf = (index: number) => cache.loaded().get(index)?.[0]
  const start = (index: number) => startOf(index, { ...cache, ...options, pageRows, anchorOf, total: knownTotal() })
  const missing = () => missingPages({ ...range, margin }, pageRows, total.isOld ? undefined : knownTotal(), cache.has)

  function next(): void {
    const wanted = missing()
    if (flight && wanted.includes(flight.index)) return
    drop()
    const [index] = wanted
    if (index !== undefined && getState().error === null) return void load(index)
    if (getState().isLoading) update({ isLoading: false, isSlow: false })
    onSettled()
  }
  function drop(): void {
    flight?.abort.abort()
    flight = null
  }
  async function load(index: number): Promise<void> {
    const from = start(index)
    total.isGuessed ||= from.by === 'from' || (from.by === 'end' && total.isOld)
    const own: Flight = { index, abort: new AbortController(), isOld: false }
    flight = own
    const before = cache.loaded().get(index)
    update({ isLoading: !before, isSlow: !before && isSlow(from) })
    const begun = performance.now()
    try {
      const answer = await options.fetch(from, pageRows, own.abort.signal)
      if (flight !== own) return
      flight = null
      keep(index, answer, before)
      if (own.isOld) cache.markStale((other) => other === index, index)
      const ms = before ? getState().ms : performance.now() - begun
      update({ isBegun: true, ms, ...toldTotal(index, answer.rows.length) })
      next()
    } catch (error) {
      if (flight !== own) return
      flight = null
      update({ isLoading: false, isSlow: false, error })
      onSettled()
    }
  }
  function keep(index: number, answer: PageAnswer<Row>, before: readonly Row[] | undefined): void {
    if (before && options.idOf?.(before.at(-1)) !== options.idOf?.(answer.rows.at(-1)))
      cache.markStale((other) => other > index, index)
    cache.keep(index, answer, (range.first + range.last) / 2)
  }
  function toldTotal(index: number, length: number): Partial<RowPagesState> {
    const change = total.isGuessed ? {} : endOf(index, length, pageRows)
    if (change.total) Object.assign(total, { isOld: false, isCountNeeded: false })
    return change
  }

  function want(first: number, last: number): boolean {
    range = { first, last }
    const [index] = missing()
    return index === undefined || isCheap(start(index))
  }

  const doubt = () => void (flight && Object.assign(flight, { isOld: true }))
  return { cache, total, next, drop, want, doubt }
}

/** A page that is not full is the last one. */
function endOf(index: number, length: number, pageRows: number): Partial<RowPagesState> {
  if (length === pageRows || (length === 0 && index > 0)) return {}
  return { total: { rows: index * pageRows + length, isExact: true } }
}
