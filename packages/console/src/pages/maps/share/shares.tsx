/** The links to a map and pages with its code: when their keys were made and used, and how to revoke them. */
import type { ApiKey } from '@graticule/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { consoleUrl, serverUrl } from '../../../address.ts'
import { Button } from '../../../components/button.tsx'
import { useConfirm } from '../../../components/confirm.tsx'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Skeleton } from '../../../components/note.tsx'
import { layout } from '../../../components/page.tsx'
import { useToast } from '../../../components/toast.tsx'
import { formatDate, formatRelative } from '../../../format.ts'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useRefusal } from '../../../session/session.tsx'
import { mapCode } from './map-code.ts'
import { frameSnippet, sharePath, useOf } from './share-link.ts'
import classes from './share-tab.module.css'
import { sharesQuery } from './shares-query.ts'

interface SharesProps {
  styleId: string
  name: string
}

export function Shares({ styleId, name }: SharesProps): ReactElement {
  const client = useClient()
  const { data, error, refetch } = useQuery(sharesQuery(client, styleId))
  return (
    <section className={layout.section}>
      <h2>Links and code of this map</h2>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton height={80} />}
      {data?.length === 0 && <p className={classes.none}>This map is not shared.</p>}
      {data && data.length > 0 && (
        <ul className={classes.list} aria-label="Links">
          {data.map((key) => (
            <Share key={key.id} apiKey={key} styleId={styleId} name={name} />
          ))}
        </ul>
      )}
    </section>
  )
}

interface ShareProps {
  apiKey: ApiKey
  styleId: string
  name: string
}

function Share({ apiKey, styleId, name }: ShareProps): ReactElement {
  const client = useClient()
  const queries = useQueryClient()
  const confirm = useConfirm()
  const refusal = useRefusal()
  const { say } = useToast()
  const isCode = useOf(apiKey) === 'code'
  const revoke = () =>
    confirm({
      title: isCode ? 'Revoke the key of this code?' : 'Revoke this link?',
      body: isCode
        ? 'Pages with this code will show no map. This cannot be undone; you can make other code.'
        : 'Whoever opens it, also inside of other pages, will read that the map is no longer shared. This cannot be undone; you can make another link.',
      action: 'Revoke',
      async onConfirm() {
        await client.apiKeys.delete(apiKey.id)
        await queries.invalidateQueries({ queryKey: queryKeys.apikeys.all })
        say({ title: isCode ? 'Key revoked' : 'Link revoked' })
      },
    })
  const address = consoleUrl(sharePath(styleId, apiKey.id))
  const code = { server: serverUrl, key: apiKey.id, styleId, title: name }
  return (
    <li>
      <div className={classes.facts}>
        <span>
          {isCode ? 'Code, made' : 'Link, made'} {formatRelative(apiKey.createdAt)} ·{' '}
          {apiKey.lastUsedAt ? `last used ${formatRelative(apiKey.lastUsedAt)}` : 'never used'}
          {apiKey.expiresAt && ` · ends ${formatDate(apiKey.expiresAt)}`}
        </span>
        {apiKey.allowedOrigins && <span>Only on {apiKey.allowedOrigins.join(', ')}</span>}
      </div>
      <div className={layout.row}>
        {isCode ? (
          <>
            <Copied text={mapCode('html', code)} label="Copy HTML" />
            <Copied text={mapCode('react', code)} label="Copy React" />
          </>
        ) : (
          <>
            <Copied text={address} label="Copy link" />
            <Copied text={frameSnippet(address, name)} label="Copy HTML" />
          </>
        )}
        <Button variant="danger" icon="trash" disabledReason={refusal('apikeys', 'write')} onClick={revoke}>
          Revoke
        </Button>
      </div>
    </li>
  )
}

interface CopiedProps {
  text: string
  label: string
}

/** The link contains the key, so it is copied and not shown. */
function Copied({ text, label }: CopiedProps): ReactElement {
  const { say } = useToast()
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    say({ title: 'Copied' })
  }
  return (
    <Button icon="copy" onClick={() => void copy()}>
      {label}
    </Button>
  )
}
