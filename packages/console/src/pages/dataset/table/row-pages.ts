/**
 * Loads the rows near the viewport in pages: one request at a time, aborted when no longer wanted; jumps are debounced; the
 * farthest pages are evicted.
 */
import { createPageCache, missingPages, type PageAnswer } from './page-cache.ts'
import { isCheap, isSlow, type PageStart, startOf } from './page-start.ts'

export interface RowPagesOptions<Row> {
  fetch(start: PageStart<Row>, rows: number, signal: AbortSignal): Promise<PageAnswer<Row>>
  isReversible: boolean
  hasSingleKey: boolean
  pageRows?: number
  keptPages?: number
  quietMs?: number
}

export interface RowPages<Row> {
  row(index: number): Row | undefined
  /** Sets the visible rows. */
  want(first: number, last: number): void
  setTotal(rows: number, isExact: boolean): void
  retry(): void
  dispose(): void
  subscribe(listener: () => void): () => void
  getState(): RowPagesState
}

export interface RowPagesState {
  /** Null until known. */
  total: { rows: number; isExact: boolean } | null
  /** At least one page is loaded. */
  isBegun: boolean
  isLoading: boolean
  /** The current request skips so many rows that it is slow. */
  isSlow: boolean
  /** The duration of the last page. */
  ms: number | null
  error: unknown
}

const beginning: RowPagesState = {
  total: null,
  isBegun: false,
  isLoading: false,
  isSlow: false,
  ms: null,
  error: null,
}

function createState(first: RowPagesState) {
  const listeners = new Set<() => void>()
  let state = first
  return {
    getState: () => state,
    update(change: Partial<RowPagesState>) {
      state = { ...state, ...change }
      for (const listener of listeners) listener()
    },
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Rows beyond the viewport that are prefetched. */
const margin = 60

interface Flight {
  index: number
  abort: AbortController
}

export function createRowPages<Row>(options: RowPagesOptions<Row>): RowPages<Row> {
  const { pageRows = 200, keptPages = 20, quietMs = 80 } = options
  const cache = createPageCache<Row>(pageRows, keptPages)
  const { getState, update, subscribe } = createState(beginning)
  let range = { first: 0, last: 0 }
  let flight: Flight | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  const exactTotal = () => (getState().total?.isExact ? getState().total?.rows : undefined)
  const start = (index: number) => startOf(index, { ...cache, ...options, pageRows, total: exactTotal() })
  const missing = () => missingPages({ ...range, margin }, pageRows, exactTotal(), cache.has)

  function next(): void {
    clearTimeout(timer)
    timer = undefined
    const wanted = missing()
    if (flight && wanted.includes(flight.index)) return
    drop()
    const [index] = wanted
    if (index !== undefined && getState().error === null) void load(index)
    else if (getState().isLoading) update({ isLoading: false, isSlow: false })
  }
  function drop(): void {
    flight?.abort.abort()
    flight = null
  }
  async function load(index: number): Promise<void> {
    const from = start(index)
    const own: Flight = { index, abort: new AbortController() }
    flight = own
    update({ isLoading: true, isSlow: isSlow(from) })
    const begun = performance.now()
    try {
      const answer = await options.fetch(from, pageRows, own.abort.signal)
      if (flight !== own) return
      flight = null
      cache.keep(index, answer, (range.first + range.last) / 2)
      update({ isBegun: true, ms: performance.now() - begun, ...endOf(index, answer.rows.length, pageRows) })
      next()
    } catch (error) {
      if (flight !== own) return
      flight = null
      update({ isLoading: false, isSlow: false, error })
    }
  }

  return {
    row: cache.row,
    want(first, last) {
      range = { first, last }
      const [index] = missing()
      if (index === undefined || !getState().isBegun || isCheap(start(index))) return next()
      clearTimeout(timer)
      timer = setTimeout(next, quietMs)
    },
    setTotal(rows, isExact) {
      const { total } = getState()
      if (total && ((total.isExact && !isExact) || (total.rows === rows && total.isExact === isExact))) return
      update({ total: { rows, isExact } })
    },
    retry() {
      update({ error: null })
      next()
    },
    dispose() {
      clearTimeout(timer)
      drop()
    },
    subscribe,
    getState,
  }
}

/** A page that is not full is the last one. */
function endOf(index: number, length: number, pageRows: number): Partial<RowPagesState> {
  if (length === pageRows || (length === 0 && index > 0)) return {}
  return { total: { rows: index * pageRows + length, isExact: true } }
}
