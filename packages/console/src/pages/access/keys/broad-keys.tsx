/** Points at public keys as earlier versions made them, and replaces each by one that may do only what pages need. */
import type { ApiKey } from '@graticule/client'
import type { ReactElement } from 'react'
import { Button } from '../../../components/button.tsx'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Note } from '../../../components/note.tsx'
import { formatRelative } from '../../../format.ts'
import { useRefusal } from '../../../session/session.tsx'
import classes from '../access.module.css'
import { useMissingApplication } from '../access-tabs.tsx'
import { isFormerPublicKey, narrowDraftOf } from './key-draft.ts'
import { type CreatedKey, useCreateKey } from './key-editor.tsx'

interface BroadKeysProps {
  keys: readonly ApiKey[]
  /** A narrow key was made in place of this one, which still works. */
  onReplaced(key: ApiKey, created: CreatedKey): void
  /** The editor is to open, for a page that needs more than the public key grants. */
  onChoose(key: ApiKey): void
}

export function BroadKeys({ keys, ...actions }: BroadKeysProps): ReactElement | null {
  const broad = keys.filter((key) => isFormerPublicKey(key) && !isExpired(key))
  if (broad.length === 0) return null
  return (
    <section className={classes.broad} aria-label="Public keys that may do too much">
      <Note kind="warn">
        <p>
          {broad.length === 1
            ? 'A public key of an earlier version'
            : `${broad.length} public keys of earlier versions`}{' '}
          can list the e-mail addresses of users, send through contact points, ask agents and test databases. A new one
          shows data and maps, and serves the user who signed in. The old key works until you delete it: first put the
          new one into the pages that use it.
        </p>
        <ul>
          {broad.map((key, index) => (
            // The id is a secret, so it is not used as the React key.
            <BroadKey key={`${key.createdAt} ${index}`} apiKey={key} {...actions} />
          ))}
        </ul>
      </Note>
    </section>
  )
}

function BroadKey({ apiKey, onReplaced, onChoose }: Omit<BroadKeysProps, 'keys'> & { apiKey: ApiKey }): ReactElement {
  const creation = useCreateKey((created) => onReplaced(apiKey, created))
  const refusal = useRefusal()('apikeys', 'write')
  const disabledReason = useMissingApplication() ?? refusal
  const name = apiKey.description || 'Without a name'
  const used = apiKey.lastUsedAt === null ? 'never used' : `last used ${formatRelative(apiKey.lastUsedAt)}`
  return (
    <li>
      <span>
        {name} ({used})
      </span>
      <Button
        variant="primary"
        aria-label={`Replace ${name}`}
        disabled={creation.isPending}
        disabledReason={disabledReason}
        onClick={() => creation.mutate(narrowDraftOf(apiKey))}
      >
        {creation.isPending ? 'Making …' : 'Replace'}
      </Button>
      <Button aria-label={`It needs more …: ${name}`} disabledReason={disabledReason} onClick={() => onChoose(apiKey)}>
        It needs more …
      </Button>
      {creation.error !== null && <ErrorNote error={creation.error} />}
    </li>
  )
}

const isExpired = ({ expiresAt }: ApiKey): boolean => expiresAt !== null && Date.parse(expiresAt) < Date.now()
