/** The share tab: creates links with their own keys, and lists existing ones. */
import type { ApiKey, Client } from '@graticule/client'
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec'
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { consoleUrl, serverUrl } from '../../address.ts'
import { Button, LinkButton } from '../../components/button.tsx'
import { useConfirm } from '../../components/confirm.tsx'
import { CodeBlock, Copyable } from '../../components/copyable.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Select, TextArea } from '../../components/field.tsx'
import { Empty, Note, Skeleton } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import { useToast } from '../../components/toast.tsx'
import { formatDate, formatRelative } from '../../format.ts'
import { queryKeys } from '../../query-keys.ts'
import { useClient, useRefusal } from '../../session/session.tsx'
import { type EditorState, isUnsaved } from './editor-store.ts'
import { tilesOf } from './recipe/map-style.ts'
import { frameSnippet, isShareOf, readOrigins, shareKey, sharePath } from './share-link.ts'
import classes from './share-tab.module.css'

interface ShareTabProps {
  id: string
  state: EditorState
  onSave(): void
}

const sharesQuery = (client: Client, styleId: string) =>
  queryOptions({
    queryKey: queryKeys.apikeys.listWith({ share: styleId }),
    queryFn: async ({ signal }) =>
      (await client.apiKeys.list({ sort: ['-createdAt'], signal })).filter((key) => isShareOf(key, styleId)),
  })

export function ShareTab({ id, state, onSave }: ShareTabProps): ReactElement {
  if (!state.record || !state.saved) {
    return (
      <Empty
        title="Save the map to share it"
        action={
          <Button variant="primary" icon="save" onClick={onSave}>
            Save
          </Button>
        }
      >
        <p>A link shows the map as it was saved last, to anybody who has the link.</p>
      </Empty>
    )
  }
  return (
    <div className={`${layout.padded} ${classes.share}`}>
      {isUnsaved(state) && (
        <Note kind="warn">
          Shared pages show the map as it was saved last. <Button onClick={onSave}>Save the changes</Button>
        </Note>
      )}
      <NewShare styleId={id} name={state.saved.name} style={state.saved.style} />
      <Shares styleId={id} name={state.saved.name} />
    </div>
  )
}

const lives = [
  { value: '', label: 'Until it is revoked' },
  { value: '1', label: 'One day' },
  { value: '7', label: 'One week' },
  { value: '30', label: '30 days' },
  { value: '365', label: 'One year' },
]
const dayMs = 86_400_000

interface NewShareProps {
  styleId: string
  name: string
  style: StyleSpecification
}

function NewShare({ styleId, name, style }: NewShareProps): ReactElement {
  const client = useClient()
  const queries = useQueryClient()
  const refusal = useRefusal()
  const [days, setDays] = useState('')
  const [origins, setOrigins] = useState('')
  const { origins: allowedOrigins, fault } = readOrigins(origins)
  const make = useMutation({
    async mutationFn() {
      const expiresAt = days ? new Date(Date.now() + Number(days) * dayMs).toISOString() : null
      const tiles = await sortTiles(client, tilesOf(style))
      return client.apiKeys.create(
        shareKey({ styleId, name, ...tiles, allowedOrigins: withServerOrigin(allowedOrigins), expiresAt }),
      )
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: queryKeys.apikeys.all }),
  })
  const { data: shares } = useQuery(sharesQuery(client, styleId))
  // Hides the new link after it was revoked in the list below.
  const made = shares?.some(({ id }) => id === make.data?.id) ? make.data : undefined
  return (
    <section className={layout.section}>
      <h2>Share this map</h2>
      <p>
        A link opens this map for anybody who has it, without signing in. It carries a key that can show this map and
        its data, and do nothing else. You can revoke it at any time.
      </p>
      <div className={classes.options}>
        <Select label="The link works" value={days} options={lives} onChange={setDays} />
        <TextArea
          label="Only these websites may use the key (optional)"
          placeholder="https://maps.example.org"
          hint="One origin in each line; the shared page itself always may. Without any, whoever takes the key out of the link can use it from everywhere."
          error={fault ?? undefined}
          value={origins}
          rows={2}
          onChange={setOrigins}
        />
      </div>
      <div>
        <Button
          variant="primary"
          icon="share"
          disabled={make.isPending || fault !== null}
          disabledReason={refusal('apikeys', 'write')}
          onClick={() => make.mutate()}
        >
          {make.isPending ? 'Making the link …' : 'Make a link'}
        </Button>
      </div>
      {make.error && <ErrorNote error={make.error} />}
      {made && <MadeLink apiKey={made} styleId={styleId} name={name} />}
    </section>
  )
}

/** Adds this server's origin, because the shared page is on it. */
const withServerOrigin = (origins: readonly string[]): string[] =>
  origins.length === 0 ? [] : [...new Set([new URL(serverUrl).origin, ...origins])]

/** Separates tile sources from datasets that are drawn without one. */
async function sortTiles(
  client: Client,
  ids: readonly string[],
): Promise<{ tileSourceIds: string[]; datasetIds: string[] }> {
  if (ids.length === 0) return { tileSourceIds: [], datasetIds: [] }
  const sources = await client.tileSources.list({ fields: ['id'], filter: { id: { $in: [...ids] } } })
  const tileSourceIds = sources.map(({ id }) => id)
  return { tileSourceIds, datasetIds: ids.filter((id) => !tileSourceIds.includes(id)) }
}

interface MadeLinkProps {
  apiKey: ApiKey
  styleId: string
  name: string
}

function MadeLink({ apiKey, styleId, name }: MadeLinkProps): ReactElement {
  const address = consoleUrl(sharePath(styleId, apiKey.id))
  return (
    <Note kind="ok">
      <div className={layout.section}>
        <strong>The link is ready</strong>
        <Copyable text={address} label="link" />
        <div>
          <LinkButton icon="external" href={address} target="_blank" rel="noreferrer">
            Open
          </LinkButton>
        </div>
        {apiKey.permissions.datasets && (
          <span>
            Some of the data have no tile source. For those the key can also query the rows; with a tile source (Maps,
            Tile sources) it could only draw them.
          </span>
        )}
        <span>To put the map into a page of yours:</span>
        <CodeBlock text={frameSnippet(address, name)} label="HTML of the frame" />
      </div>
    </Note>
  )
}

interface SharesProps {
  styleId: string
  name: string
}

function Shares({ styleId, name }: SharesProps): ReactElement {
  const client = useClient()
  const { data, error, refetch } = useQuery(sharesQuery(client, styleId))
  return (
    <section className={layout.section}>
      <h2>Links to this map</h2>
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
  const revoke = () =>
    confirm({
      title: 'Revoke this link?',
      body: 'Whoever opens it, also inside of other pages, will read that the map is no longer shared. This cannot be undone; you can make another link.',
      action: 'Revoke',
      async onConfirm() {
        await client.apiKeys.delete(apiKey.id)
        await queries.invalidateQueries({ queryKey: queryKeys.apikeys.all })
        say({ title: 'Link revoked' })
      },
    })
  const address = consoleUrl(sharePath(styleId, apiKey.id))
  return (
    <li>
      <div className={classes.facts}>
        <span>
          Made {formatRelative(apiKey.createdAt)} ·{' '}
          {apiKey.lastUsedAt ? `last used ${formatRelative(apiKey.lastUsedAt)}` : 'never used'}
          {apiKey.expiresAt && ` · ends ${formatDate(apiKey.expiresAt)}`}
        </span>
        {apiKey.allowedOrigins && <span>Only on {apiKey.allowedOrigins.join(', ')}</span>}
      </div>
      <div className={layout.row}>
        <Copied text={address} label="Copy link" />
        <Copied text={frameSnippet(address, name)} label="Copy HTML" />
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
