/** The state of the row form: the row as it was read, the draft, and saving. */
import type { Client, Dataset } from '@graticule/client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { faultOf } from '../../../components/error-note.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient } from '../../../session/session.tsx'
import { type DatasetAttribute, keyOf } from '../dataset.ts'
import { type Row, type RowId, rowId } from '../table/selection.ts'
import { type CellDraft, cellDraft } from './cell-draft.ts'
import { drawnAttribute } from './drawing/drawn-geometry.ts'
import { changedColumns, faultsByColumn, type RowDraft, readDraft, rowDraft, withCell } from './row-draft.ts'
import { RowConflict, readRow, type StoredRow, saveRow } from './row-requests.ts'

interface Editing {
  /** Null: the row is new. */
  read: StoredRow | null
  /** The draft of what was read. */
  before: RowDraft
  draft: RowDraft
}

export type RowForm = ReturnType<typeof useRowForm>

/** `id` null: a new row, perhaps with a geometry that was drawn for it. */
export function useRowForm(
  dataset: Dataset,
  id: RowId | null,
  onSaved: (id: RowId | undefined) => void,
  geometry?: object,
) {
  const { attributes } = dataset
  const stored = useStoredRow(dataset, id)
  const [edited, setEdited] = useState<Editing | null>(null)
  const [attempts, setAttempts] = useState(0)
  const first = useMemo(() => beginning(attributes, id, stored.data, geometry), [attributes, id, stored.data, geometry])
  const editing = edited ?? first
  const save = useSaveRow(dataset, id, onSaved)
  const changed = editing ? changedColumns(attributes, editing.before, editing.draft) : []
  const { errors } = readDraft(changed, editing?.draft ?? {})
  const faults = faultsByColumn(attributes, faultOf(save.error))
  const hasErrors = Object.keys(errors).length > 0
  const submit = (next: Editing) => {
    setEdited(next)
    setAttempts(attempts + 1)
    if (!hasErrors) save.mutate(next)
  }
  return {
    editing,
    changed,
    attempts,
    isSaving: save.isPending,
    loadError: stored.error,
    reload: stored.refetch,
    conflict: save.error instanceof RowConflict ? save.error : null,
    /** What concerns the row as a whole. */
    error: save.error && !(save.error instanceof RowConflict) && faults.hasOthers ? save.error : null,
    errorAt: (name: string): string | undefined => (attempts > 0 ? errors[name] : undefined) ?? faults.byColumn[name],
    set(name: string, cell: CellDraft) {
      if (!editing) return
      setEdited({ ...editing, draft: withCell(attributes, editing.draft, name, cell) })
      // The server's fault concerned what was there before.
      if (faults.byColumn[name]) save.reset()
    },
    submit: () => editing && changed.length > 0 && submit(editing),
    takeTheirs(theirs: StoredRow) {
      setEdited(begun(attributes, theirs))
      save.reset()
    },
    /** Their values stay in the columns that are not changed here. */
    saveMine(theirs: StoredRow) {
      const mine = changed.map(({ name }) => [name, editing?.draft[name]])
      const { before } = begun(attributes, theirs)
      submit({ read: theirs, before, draft: { ...before, ...Object.fromEntries(mine) } })
    },
  }
}

function beginning(
  attributes: readonly DatasetAttribute[],
  id: RowId | null,
  stored: StoredRow | undefined,
  geometry: object | undefined,
): Editing | null {
  if (id !== null) return stored ? begun(attributes, stored) : null
  const editing = begun(attributes, null)
  return { ...editing, draft: withDrawn(attributes, editing.draft, geometry) }
}

function withDrawn(attributes: readonly DatasetAttribute[], draft: RowDraft, geometry: object | undefined): RowDraft {
  const attribute = drawnAttribute(attributes)
  return attribute && geometry ? withCell(attributes, draft, attribute.name, cellDraft(attribute, geometry)) : draft
}

function begun(attributes: readonly DatasetAttribute[], read: StoredRow | null): Editing {
  const before = rowDraft(attributes, read?.row ?? null)
  return { read, before, draft: before }
}

/** Read anew each time, because the ETag of an older state would only lead to a conflict. */
function useStoredRow(dataset: Dataset, id: RowId | null) {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.datasets.one(dataset.id, 'stored-row', id),
    queryFn: ({ signal }) => readRow(client, dataset, id ?? '', signal),
    enabled: id !== null,
    staleTime: 0,
    gcTime: 0,
    // Values with digits of their own are no plain objects.
    structuralSharing: false,
    refetchOnWindowFocus: false,
  })
}

function useSaveRow(dataset: Dataset, id: RowId | null, onSaved: (id: RowId | undefined) => void) {
  const client = useClient()
  return useMutation({
    mutationFn: (editing: Editing) => send(client, dataset, id, editing),
    onSuccess: onSaved,
  })
}

/** The id of the row. Only what was changed is sent. */
async function send(
  client: Client,
  dataset: Dataset,
  id: RowId | null,
  { read, before, draft }: Editing,
): Promise<RowId | undefined> {
  const changed = changedColumns(dataset.attributes, before, draft)
  const { values } = readDraft(changed, draft)
  if (id === null) return rowId(await client.datasets.insert<Row>(dataset.id, values), keyOf(dataset))
  // What was typed is what somebody else has saved.
  if (changed.length > 0) await saveRow(client, dataset, id, { etag: read?.etag ?? '', values })
  return id
}
