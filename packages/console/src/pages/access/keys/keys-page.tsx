/** The page of API keys: the list and the editor. The id of a key is its secret, so it is never in the URL. */
import type { ApiKey } from '@graticule/client'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import { Button } from '../../../components/button.tsx'
import { ErrorNote } from '../../../components/error-note.tsx'
import { TextField } from '../../../components/field.tsx'
import { Empty, Skeleton } from '../../../components/note.tsx'
import { layout, Page } from '../../../components/page.tsx'
import { useRefusal } from '../../../session/session.tsx'
import classes from '../access.module.css'
import { AccessTabs, useMissingApplication } from '../access-tabs.tsx'
import { BroadKeys } from './broad-keys.tsx'
import { CreatedKeyDialog } from './created-key-dialog.tsx'
import { useDeleteKey } from './delete-key.tsx'
import { draftOf, emptyDraft, type KeyDraft, narrowDraftOf } from './key-draft.ts'
import { type CreatedKey, KeyEditor } from './key-editor.tsx'
import { KeyList } from './key-list.tsx'
import { useKeys } from './keys.ts'

interface EditorStart {
  start: KeyDraft
  replaces: ApiKey | null
}

const fresh: EditorStart = { start: emptyDraft, replaces: null }

export function KeysPage(): ReactElement {
  const { editor } = useSearch({ from: '/shell/access/keys' })
  const navigate = useNavigate({ from: '/access/keys' })
  const [editorStart, setEditorStart] = useState<EditorStart>(fresh)
  const [created, setCreated] = useState<CreatedKey | null>(null)
  const deleteKey = useDeleteKey()
  const open = (next: EditorStart) => {
    setEditorStart(next)
    void navigate({ search: (search) => ({ ...search, editor: 'new' }) })
  }
  const close = () => void navigate({ search: ({ editor: _, ...search }) => search, replace: true })
  const finish = () => {
    setCreated(null)
    setEditorStart(fresh)
  }
  const { start, replaces } = editorStart
  return (
    <>
      {editor ? (
        <KeyEditor
          start={start}
          replaces={replaces?.description ?? null}
          onCancel={close}
          onCreated={(key) => {
            setCreated(key)
            close()
          }}
        />
      ) : (
        <KeyListPage
          onNew={() => open(fresh)}
          onReplace={(key) => open({ start: draftOf(key), replaces: key })}
          onNarrow={(key) => open({ start: narrowDraftOf(key), replaces: key })}
          onNarrowed={(key, made) => {
            setEditorStart({ ...fresh, replaces: key })
            setCreated(made)
          }}
          onDuplicate={(key) =>
            open({ start: { ...draftOf(key), description: `${key.description} (copy)` }, replaces: null })
          }
        />
      )}
      {created && (
        <CreatedKeyDialog
          created={created}
          replaces={replaces?.description ?? null}
          onClose={finish}
          onDeleteOld={() => {
            finish()
            if (replaces) deleteKey(replaces)
          }}
        />
      )}
    </>
  )
}

interface KeyListPageProps {
  onNew(): void
  onReplace(key: ApiKey): void
  onNarrow(key: ApiKey): void
  onNarrowed(key: ApiKey, created: CreatedKey): void
  onDuplicate(key: ApiKey): void
}

const manyKeys = 8

function KeyListPage({ onNew, onNarrow, onNarrowed, ...actions }: KeyListPageProps): ReactElement {
  const refusal = useRefusal()
  const missing = useMissingApplication()
  const [search, setSearch] = useState('')
  const { data: keys, error, refetch } = useKeys()
  const wanted = search.trim().toLowerCase()
  const matches = keys?.filter(({ description }) => description.toLowerCase().includes(wanted))
  const newKey = (
    <Button variant="primary" icon="plus" disabledReason={missing ?? refusal('apikeys', 'write')} onClick={onNew}>
      New key
    </Button>
  )
  return (
    <Page title="API keys" facts={keys && factsOf(keys)} actions={newKey} tabs={<AccessTabs />}>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!keys && !error && <KeysSkeleton />}
      {keys && <BroadKeys keys={keys} onReplaced={onNarrowed} onChoose={onNarrow} />}
      {keys && keys.length > manyKeys && (
        <div className={classes.search}>
          <TextField
            label="Search by name"
            isLabelHidden
            type="search"
            placeholder="Search by name"
            value={search}
            onChange={setSearch}
          />
        </div>
      )}
      {keys?.length === 0 && (
        <Empty title="No keys to see here">
          <p>A key sees the keys that can do no more than itself. Make one for each page, program and person.</p>
        </Empty>
      )}
      {matches && matches.length > 0 && <KeyList keys={matches} {...actions} />}
      {keys && keys.length > 0 && matches?.length === 0 && (
        <Empty
          title={`0 of ${keys.length} keys`}
          action={<Button onClick={() => setSearch('')}>Clear the search</Button>}
        />
      )}
    </Page>
  )
}

function factsOf(keys: readonly ApiKey[]): string {
  const ended = keys.filter(({ expiresAt }) => expiresAt !== null && Date.parse(expiresAt) < Date.now()).length
  const count = `${keys.length} ${keys.length === 1 ? 'key' : 'keys'}`
  return ended > 0 ? `${count} · ${ended} expired` : count
}

function KeysSkeleton(): ReactElement {
  return (
    <div className={layout.section}>
      {[1, 2, 3].map((row) => (
        <Skeleton key={row} height={36} />
      ))}
    </div>
  )
}
