/** The form that creates a key, or a replacement for one, because keys cannot be changed. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactElement, useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Note } from '../../../components/note.tsx'
import { Page } from '../../../components/page.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useRefusal } from '../../../session/session.tsx'
import { useMissingApplication } from '../access-tabs.tsx'
import { AclGrid } from '../acl/acl-grid.tsx'
import { useResources } from '../acl/resources.ts'
import { type KeyDraft, requestOf } from './key-draft.ts'
import classes from './key-editor.module.css'
import { KeyFields } from './key-fields.tsx'
import { KeySummary } from './key-summary.tsx'
import { PresetChoice } from './preset-choice.tsx'

export interface CreatedKey {
  id: string
  description: string
}

interface KeyEditorProps {
  start: KeyDraft
  /** The description of the key to replace. */
  replaces: string | null
  onCreated(key: CreatedKey): void
  onCancel(): void
}

export function KeyEditor({ start, replaces, onCreated, onCancel }: KeyEditorProps): ReactElement {
  const [draft, setDraft] = useState(start)
  const resources = useResources()
  const creation = useCreateKey(onCreated)
  const refusal = useRefusal()
  const missing = useMissingApplication()
  const change = (part: Partial<KeyDraft>) => setDraft({ ...draft, ...part })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    creation.mutate(draft)
  }
  return (
    <Page
      title={replaces === null ? 'New key' : `Replace “${replaces}”`}
      back={{ to: '/access/keys', label: 'API keys' }}
    >
      <form className={classes.editor} onSubmit={submit}>
        {replaces !== null && (
          <Note>Keys cannot be changed. This makes a new one; the old one works until you delete it.</Note>
        )}
        <KeyFields draft={draft} users={resources.users ?? []} error={creation.error} onChange={change} />
        <PresetChoice
          permissions={draft.permissions}
          resources={resources}
          onChange={(permissions) => change({ permissions })}
        />
        <div className={classes.columns}>
          <div>
            <AclGrid
              label="What the key may do"
              permissions={draft.permissions}
              resources={resources}
              onChange={(permissions) => change({ permissions })}
            />
            <p className={classes.hint}>
              A click changes a cell; ⋯ (or F2) chooses by name. Arrow keys move. Pale cells follow “Everything else”.
            </p>
          </div>
          <KeySummary draft={draft} resources={resources} onPermissions={(permissions) => change({ permissions })} />
        </div>
        {creation.error !== null && <ErrorNote error={creation.error} />}
        <div className={classes.foot}>
          <Button onClick={onCancel}>Cancel</Button>
          <Button
            type="submit"
            variant="primary"
            disabled={creation.isPending}
            disabledReason={missing ?? refusal('apikeys', 'write')}
          >
            {creation.isPending ? 'Making …' : 'Make key'}
          </Button>
        </div>
      </form>
    </Page>
  )
}

/** Creates the key of a draft. */
export function useCreateKey(onCreated: (key: CreatedKey) => void) {
  const client = useClient()
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (draft: KeyDraft) => client.apiKeys.create(requestOf(draft)),
    onSuccess: ({ id, description }) => {
      void queryClient.invalidateQueries({ queryKey: queryKeys.apikeys.all })
      onCreated({ id, description })
    },
  })
}
