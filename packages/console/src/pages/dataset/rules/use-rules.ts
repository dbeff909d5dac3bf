/** The unsaved rules of a dataset, kept while other pages are looked at, and saving them. */
import type { Dataset } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useToast } from '../../../components/toast.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient } from '../../../session/session.tsx'
import { useLeaveWarning } from '../../../shell/leave-warning.ts'
import { ConflictError, saveDataset } from '../save-dataset.ts'
import { useSessionState } from '../session-state.ts'
import { areSameRules, draftOf, patchOf, type RulesDraft } from './rules-draft.ts'

interface Editing {
  /** The version that the draft began with. */
  read: Dataset
  draft: RulesDraft
}

const nothing: { editing?: Editing | undefined } = {}

export function useRules(dataset: Dataset) {
  const [{ editing }, keep] = useSessionState(`rules ${dataset.id}`, nothing)
  const { read, draft } = editing ?? { read: dataset, draft: draftOf(dataset) }
  const isEdited = editing !== undefined && !areSameRules(read, draft)
  const save = useSave(draft, () => keep({ editing: undefined }))
  useLeaveWarning(isEdited)
  return {
    draft,
    isEdited,
    save,
    read,
    change(next: RulesDraft) {
      save.reset()
      keep({ editing: { read, draft: next } })
    },
    discard() {
      save.reset()
      keep({ editing: undefined })
    },
  }
}

/** Saves the differences from a given version. */
function useSave(draft: RulesDraft, onSaved: () => void) {
  const client = useClient()
  const cache = useQueryClient()
  const toast = useToast()
  const send = async (read: Dataset): Promise<Dataset> => {
    try {
      return await saveDataset(client, read, patchOf(read, draft))
    } catch (error) {
      // What others have changed is something else, such as the name.
      if (!(error instanceof ConflictError) || !areSameRules(error.theirs, read)) throw error
      return saveDataset(client, error.theirs, patchOf(read, draft))
    }
  }
  return useMutation({
    mutationFn: send,
    onSuccess: async (saved) => {
      cache.setQueryData(queryKeys.datasets.one(saved.id), saved)
      onSaved()
      toast.say({ title: 'Rules saved' })
      // Where rules bind this key too, it now sees other rows.
      await cache.invalidateQueries({ queryKey: queryKeys.datasets.all })
    },
    onError: (error) => {
      if (error instanceof ConflictError) cache.setQueryData(queryKeys.datasets.one(error.theirs.id), error.theirs)
    },
  })
}
