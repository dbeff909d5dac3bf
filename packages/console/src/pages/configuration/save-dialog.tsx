/**
 * Shows a diff before saving. If somebody else has saved in the meantime (412), shows both versions and lets the user
 * choose.
 */
import { ApiError, type JsonObject } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Note } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import { useToast } from '../../components/toast.tsx'
import { queryKeys } from '../../query-keys.ts'
import { useClient } from '../../session/session.tsx'
import { fetchConfiguration, type StoredConfiguration } from './configuration-query.ts'
import { DiffView } from './diff-view.tsx'

interface SaveDialogProps {
  applicationId: string
  base: StoredConfiguration
  config: Record<string, unknown>
  onClose(): void
  /** Called after saving. */
  onSaved(): void
  /** Called if the user discards their changes for the stored version. */
  onTakeTheirs(): void
}

export function SaveDialog(props: SaveDialogProps): ReactElement {
  const { applicationId, base, config, onClose, onSaved, onTakeTheirs } = props
  const client = useClient()
  const queryClient = useQueryClient()
  const toast = useToast()
  /** The version that somebody else saved since `base`. */
  const [theirs, setTheirs] = useState<StoredConfiguration | null>(null)
  const save = useMutation({
    async mutationFn() {
      const { etag } = theirs ?? base
      await client.appconfig.set(config as JsonObject, etag ? { ifMatch: etag } : {})
    },
    async onSuccess() {
      await queryClient.refetchQueries({ queryKey: queryKeys.appconfig.one(applicationId), exact: true })
      toast.say({ title: 'The configuration was saved.' })
      onSaved()
    },
    async onError(error) {
      if (!(error instanceof ApiError) || error.status !== 412) return
      const current = await fetchConfiguration(client, applicationId)
      queryClient.setQueryData(queryKeys.appconfig.one(applicationId), current)
      setTheirs(current)
    },
  })
  const isConflict = theirs !== null
  return (
    <Dialog
      kind="wide"
      isOpen
      onClose={onClose}
      title={isConflict ? 'Somebody else has changed the configuration' : 'Save these changes?'}
      actions={
        <>
          <Button onClick={onClose}>Keep editing</Button>
          {isConflict && <Button onClick={onTakeTheirs}>Take theirs, drop mine</Button>}
          <Button variant={isConflict ? 'danger' : 'primary'} disabled={save.isPending} onClick={() => save.mutate()}>
            {save.isPending ? 'Saving …' : isConflict ? 'Save mine over theirs' : 'Save'}
          </Button>
        </>
      }
    >
      <div className={layout.section}>
        {isConflict && (
          <Note kind="warn">
            It was saved by somebody else after you began. Saving yours replaces the whole of it, their changes too.
          </Note>
        )}
        {isConflict && <DiffView label="Their changes" before={base.config} after={theirs.config} />}
        <DiffView label={isConflict ? 'Your changes' : 'Changes'} before={base.config} after={config} />
        {save.error && !isConflict && <ErrorNote error={save.error} />}
      </div>
    </Dialog>
  )
}
