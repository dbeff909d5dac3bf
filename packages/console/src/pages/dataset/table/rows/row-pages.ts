/**
 * Loads the rows near the viewport in pages: one request at a time, aborted when no longer wanted; jumps are debounced; the
 * farthest pages are evicted. Pages that a change has made stale are loaded again quietly: their rows stay until then.
 */
import type { AffectedPages } from './affected-pages.ts'
import type { PageAnswer } from './page-cache.ts'
import { createPageLoader } from './page-loader.ts'
import type { PageStart } from './page-start.ts'

export interface RowPagesOptions<Row> {
  fetch(start: PageStart<Row>, rows: number, signal: AbortSignal): Promise<PageAnswer<Row>>
  isReversible: boolean
  hasSingleKey: boolean
  /** Identifies a row; undefined without a key. */
  idOf?(row: Row | undefined): unknown
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
  /** Loads the visible ones of the pages that a change affects again. Resolves with whether the rows must be counted again. */
  renew(affected: (pages: ReadonlyMap<number, readonly Row[]>) => AffectedPages): Promise<boolean>
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

export type RowPagesStore = ReturnType<typeof createState>

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

export function createRowPages<Row>(options: RowPagesOptions<Row>): RowPages<Row> {
  const { quietMs = 80 } = options
  const store = createState(beginning)
  const { getState, update, subscribe } = store
  let waiting: ((isCountNeeded: boolean) => void)[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const settle = () => {
    for (const resolve of waiting) resolve(loader.total.isCountNeeded)
    waiting = []
  }
  const loader = createPageLoader(options, store, settle)
  const { cache, total } = loader

  function next(): void {
    clearTimeout(timer)
    loader.next()
  }

  return {
    row: cache.row,
    want(first, last) {
      const isCheap = loader.want(first, last)
      if (isCheap || !getState().isBegun) return next()
      clearTimeout(timer)
      timer = setTimeout(next, quietMs)
    },
    setTotal(rows, isExact) {
      const { total: before } = getState()
      const areWrong = isExact && total.isGuessed && before?.rows !== rows
      if (isExact) Object.assign(total, { isOld: false, isGuessed: false })
      if (areWrong) cache.markStale(() => true, 0)
      const isKnown = before && ((before.isExact && !isExact) || (before.rows === rows && before.isExact === isExact))
      if (!isKnown) update({ total: { rows, isExact } })
      if (areWrong) next()
    },
    retry() {
      update({ error: null })
      next()
    },
    renew(affected) {
      const { isStale, movedFrom, mayChangeTotal } = affected(cache.loaded())
      cache.markStale(isStale, movedFrom)
      total.isCountNeeded = mayChangeTotal
      total.isOld ||= mayChangeTotal
      loader.doubt()
      if (getState().error !== null) update({ error: null })
      return new Promise((resolve) => {
        waiting.push(resolve)
        next()
      })
    },
    dispose() {
      clearTimeout(timer)
      loader.drop()
      settle()
    },
    subscribe,
    getState,
  }
}
