/** The selection shared by table and map, stored in the URL. */
import type { Client, Dataset, JsonObject } from '@graticule/client'
import { useMemo, useRef, useState } from 'react'
import { useToast } from '../../../components/toast.tsx'
import { useClient } from '../../../session/session.tsx'
import { countRows, keyOf } from '../dataset.ts'
import { whereBefore } from '../rank.ts'
import { bothOf, useView } from '../view.ts'
import type { Flight } from './map/map-pane.tsx'
import { orderFor, type TableQuery } from './rows/page-query.ts'
import { type Click, type Row, type RowId, rowId, select, selectRange, whereIds } from './selection.ts'

export interface SelectionAccess {
  ids: readonly RowId[]
  isSelected(row: Row): boolean
  onRow(index: number, click: Click): void
  onFeature(id: RowId, click: Pick<Click, 'isAdded'>): void
  /** `row`: where rows may have moved since, the one that was meant. */
  onFly(index: number | null, row?: Row): void
  clear(): void
  /** Scrolls to the row selected last. */
  show(): void
  /** The requested camera movement of the map. */
  flight: Flight | null
  /** Why nothing can be selected. */
  refusal: string | undefined
}

const nothing: readonly RowId[] = []

export interface SelectionOptions {
  tableQuery: TableQuery
  rowAt(index: number): Row | undefined
  showRow(index: number): void
}

export function useSelection({ tableQuery, rowAt, showRow }: SelectionOptions): SelectionAccess {
  const client = useClient()
  const toast = useToast()
  const { dataset } = tableQuery
  const { sel = nothing, change } = useView()
  const key = useMemo(() => keyOf(dataset), [dataset])
  const texts = useMemo(() => new Set(sel.map(String)), [sel])
  const anchor = useRef<number | null>(null)
  const [flight, setFlight] = useState<Flight | null>(sel.length > 0 ? { kind: 'show', number: 0 } : null)
  const finding = useRef<AbortController>(null)
  const choose = (ids: readonly RowId[], kind?: Flight['kind']) => {
    change({ sel: ids.length > 0 ? [...ids] : undefined })
    if (kind) setFlight((before) => ({ kind, number: (before?.number ?? 0) + 1 }))
  }
  const find = async (id: RowId) => {
    finding.current?.abort()
    finding.current = new AbortController()
    const { signal } = finding.current
    try {
      const index = await indexOf(client, tableQuery, id, signal)
      if (index !== null && !signal.aborted) showRow(index)
    } catch (error) {
      if (!signal.aborted) toast.fail('The row of this feature could not be found', error)
    }
  }
  return {
    ids: sel,
    flight,
    refusal: key.length === 0 ? 'This dataset has no key, so that its rows cannot be selected.' : undefined,
    isSelected: (row) => texts.size > 0 && texts.has(String(rowId(row, key))),
    onRow(index, { isAdded, isExtended }) {
      const id = rowId(rowAt(index), key)
      if (id === undefined) return
      if (isExtended)
        return choose(
          selectRange(anchor.current ?? index, index, (at) => rowId(rowAt(at), key)),
          'show',
        )
      anchor.current = index
      choose(select(sel, id, { isAdded }), 'show')
    },
    onFeature(id, click) {
      choose(select(sel, id, click))
      void find(id)
    },
    onFly(index, row) {
      const id = index === null ? undefined : rowId(row ?? rowAt(index), key)
      choose(id === undefined || texts.has(String(id)) ? sel : [id], 'fly')
    },
    clear: () => choose([]),
    show() {
      const id = sel.at(-1)
      if (id !== undefined && key.length > 0) void find(id)
    },
  }
}

/** The position of a row in the table: the number of rows before it. */
async function indexOf(client: Client, tableQuery: TableQuery, id: RowId, signal: AbortSignal): Promise<number | null> {
  const { dataset, where } = tableQuery
  const order = orderFor(tableQuery)
  const row = await rowOf(client, dataset, id, signal)
  if (!row) return null
  return (await countRows(client, dataset.id, bothOf(where, whereBefore(row, order)), signal)).rows
}

async function rowOf(
  client: Client,
  dataset: Dataset,
  id: RowId,
  signal: AbortSignal,
): Promise<JsonObject | undefined> {
  const attributes = dataset.attributes.filter(({ type }) => type !== 'geometry').map(({ name }) => name)
  const query = { attributes, where: whereIds([id], keyOf(dataset)), limit: 1 }
  const [row] = await client.datasets.query<Row>(dataset.id, query, { signal })
  return row
}
