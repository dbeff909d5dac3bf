/** Saves a map: creates a new one, or replaces an existing one with optimistic concurrency. */
import { ApiError, type Client, type Style } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useConfirm } from '../../components/confirm.tsx'
import { useToast } from '../../components/toast.tsx'
import { queryKeys } from '../../query-keys.ts'
import { useClient } from '../../session/session.tsx'
import type { EditorActions, EditorState, MapDocument } from './editor-store.ts'
import { renewPicture } from './picture/stored-picture.ts'
import { type ReadStyle, styleQuery } from './styles-query.ts'

export interface Save {
  save(): void
  isSaving: boolean
  /** The server's error, shown at its position in the JSON. */
  error: unknown
}

export function useSave(
  id: string,
  tab: string,
  state: EditorState,
  actions: EditorActions,
  prepare: (document: MapDocument) => MapDocument,
): Save {
  const client = useClient()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const confirm = useConfirm()
  const { say, fail } = useToast()
  const { mutate, mutateAsync, isPending, error } = useMutation({
    async mutationFn(isForced: boolean): Promise<{ read: ReadStyle; sent: MapDocument }> {
      const sent = prepare(state.history.present)
      if (sent !== state.history.present) actions.change(() => sent)
      return { read: await write(client, state, sent, isForced), sent }
    },
    onSuccess({ read: { record, etag }, sent }) {
      queries.setQueryData(styleQuery(client, record.id).queryKey, { record, etag })
      void queries.invalidateQueries({ queryKey: queryKeys.styles.list })
      actions.markSaved(record, etag, sent)
      say({ title: 'Map saved' })
      // A map without a picture is saved all the same, and gets one in the list.
      void renewPicture(client, queries, record).catch(() => undefined)
      if (record.id !== id)
        void navigate({ to: '/maps/$styleId/$tab', params: { styleId: record.id, tab }, replace: true })
    },
    onError(failure, isForced) {
      if (!isForced && failure instanceof ApiError && failure.status === 412) {
        confirm({
          title: 'Overwrite the changes of somebody else?',
          body: 'This map was changed since you opened it. If you save now, those changes are lost. To keep them, cancel and duplicate your version from the list of maps.',
          action: 'Overwrite',
          onConfirm: () => mutateAsync(true),
        })
      } else if (!isForced) fail('The map was not saved', failure)
    },
  })
  return { save: () => mutate(false), isSaving: isPending, error }
}

async function write(
  client: Client,
  { record, etag }: EditorState,
  sent: MapDocument,
  isForced: boolean,
): Promise<ReadStyle> {
  let next: string | null = null
  const onResponse = ({ headers }: Response) => {
    next = headers.get('etag')
  }
  const body = { ...sent, style: sent.style as unknown as Style['style'] }
  if (!record) return { record: await client.styles.create(body, { onResponse }), etag: next }
  const ifMatch = isForced ? undefined : (etag ?? undefined)
  // The whole record, because PUT resets fields that are left out, also those that the editor does not know.
  const saved = await client.styles.update(record.id, { ...record, ...body }, { ifMatch, onResponse })
  return { record: saved, etag: next }
}
