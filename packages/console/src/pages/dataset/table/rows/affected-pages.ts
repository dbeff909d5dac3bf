/** Which loaded pages of a table a change may have altered, so that no others are loaded again. */
import type { DatasetChange, DatasetEvent } from '@graticule/client'
import type { RowId } from '../selection.ts'

export interface TableChange {
  operations: ReadonlySet<DatasetChange['operations'][number]>
  /** Null: any row. */
  keys: readonly RowId[] | null
}

export interface AffectedPages {
  isStale(index: number): boolean
  /** Rows may have moved between pages, from the end of this one on; null if they have not. */
  movedFrom: number | null
  mayChangeTotal: boolean
}

export interface TableOrder<Row> {
  /** Sorted by a key of one column alone, ascending, without a filter. */
  isByKey: boolean
  isFiltered: boolean
  pageRows: number
  idOf(row: Row | undefined): unknown
}

/** What must be assumed where changes were missed. */
const anyChange: TableChange = { operations: new Set(['insert', 'update', 'delete', 'truncate']), keys: null }

/** Null for an event after which the table is as it was. */
export function changeOf(event: DatasetEvent): TableChange | null {
  if (event.type === 'ready') return event.resumed ? null : anyChange
  if (event.type === 'reset') return anyChange
  return { operations: new Set(event.operations), keys: event.keys?.map(idOfKey) ?? null }
}

/** As `rowId` of selection.ts. */
const idOfKey = (key: unknown): RowId => {
  if (typeof key === 'object') return JSON.stringify(key)
  return typeof key === 'number' ? key : String(key)
}

const mostKeys = 5_000

export function mergeChanges(one: TableChange, other: TableChange): TableChange {
  const keys = one.keys && other.keys && one.keys.length + other.keys.length <= mostKeys
  return {
    operations: one.operations.union(other.operations),
    keys: keys && one.keys && other.keys ? [...one.keys, ...other.keys] : null,
  }
}

export function affectedPages<Row>(
  { operations, keys }: TableChange,
  pages: ReadonlyMap<number, readonly Row[]>,
  order: TableOrder<Row>,
): AffectedPages {
  const isUpdate = [...operations].every((operation) => operation === 'update')
  const mayChangeTotal = !isUpdate || order.isFiltered
  const all = { isStale: () => true, movedFrom: 0, mayChangeTotal }
  if (!keys || !order.isByKey) return all
  const changed = new Set(keys.map(String))
  const isHolder = (index: number) => pages.get(index)?.some((row) => changed.has(String(order.idOf(row)))) ?? false
  if (isUpdate && !hasNewKey(changed, pages, order)) return { isStale: isHolder, movedFrom: null, mayChangeTotal }
  if (!keys.every((key) => typeof key === 'number')) return all
  const from = firstReached(Math.min(...keys), pages, order)
  return { isStale: (index) => index >= from, movedFrom: from, mayChangeTotal }
}

/** Whether a row has got a key between those of a loaded page: an update may change keys too. */
function hasNewKey<Row>(
  changed: ReadonlySet<string>,
  pages: ReadonlyMap<number, readonly Row[]>,
  { idOf }: TableOrder<Row>,
): boolean {
  const held = new Set([...pages.values()].flatMap((rows) => rows.map((row) => String(idOf(row)))))
  const isCovered = (key: number) =>
    [...pages.values()].some((rows) => key > Number(idOf(rows[0])) && key < Number(idOf(rows.at(-1))))
  return [...changed].some((key) => !held.has(key) && isCovered(Number(key)))
}

/** The first page that has the key, or would. Pages that are not loaded count if those around them do not rule it out. */
function firstReached<Row>(
  key: number,
  pages: ReadonlyMap<number, readonly Row[]>,
  { idOf, pageRows }: TableOrder<Row>,
): number {
  const isBefore = (rows: readonly Row[]) => rows.length === pageRows && Number(idOf(rows.at(-1))) < key
  const before = [...pages].filter(([, rows]) => isBefore(rows)).map(([index]) => index + 1)
  return Math.max(0, ...before)
}
