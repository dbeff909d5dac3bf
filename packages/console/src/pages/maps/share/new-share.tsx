/** Makes a key that can only show this map, and with it a link, or a page of code. */
import type { ApiKey, Client } from '@graticule/client'
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { consoleUrl, serverUrl } from '../../../address.ts'
import { Button, LinkButton } from '../../../components/button.tsx'
import { CodeBlock, Copyable } from '../../../components/copyable.tsx'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Segmented, Select, TextArea } from '../../../components/field.tsx'
import { Note } from '../../../components/note.tsx'
import { layout } from '../../../components/page.tsx'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useRefusal } from '../../../session/session.tsx'
import { tilesOf } from '../recipe/map-style.ts'
import { type CodeKind, mapCode } from './map-code.ts'
import { frameSnippet, readOrigins, type ShareUse, shareKey, sharePath } from './share-link.ts'
import classes from './share-tab.module.css'
import { sharesQuery } from './shares-query.ts'

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

export function NewShare({ styleId, name, style }: NewShareProps): ReactElement {
  const client = useClient()
  const queries = useQueryClient()
  const refusal = useRefusal()
  const [days, setDays] = useState('')
  const [origins, setOrigins] = useState('')
  const { origins: allowedOrigins, fault } = readOrigins(origins)
  const make = useMutation({
    async mutationFn(use: ShareUse) {
      const expiresAt = days ? new Date(Date.now() + Number(days) * dayMs).toISOString() : null
      const tiles = await sortTiles(client, tilesOf(style))
      const made = shareKey({
        use,
        styleId,
        name,
        ...tiles,
        allowedOrigins: withServerOrigin(allowedOrigins),
        expiresAt,
      })
      return { key: await client.apiKeys.create(made), use }
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: queryKeys.apikeys.all }),
  })
  const { data: shares } = useQuery(sharesQuery(client, styleId))
  // Hides the new link after it was revoked in the list below.
  const made = shares?.some(({ id }) => id === make.data?.key.id) ? make.data : undefined
  const reason = refusal('apikeys', 'write')
  return (
    <section className={layout.section}>
      <h2>Share this map</h2>
      <p>
        A link opens this map for anybody who has it, without signing in. It carries a key that can show this map and
        its data, and do nothing else. You can revoke it at any time.
      </p>
      <div className={classes.options}>
        <Select label="It works" value={days} options={lives} onChange={setDays} />
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
      <div className={layout.row}>
        <Button
          variant="primary"
          icon="share"
          disabled={make.isPending || fault !== null}
          disabledReason={reason}
          onClick={() => make.mutate('link')}
        >
          {make.isPending && make.variables === 'link' ? 'Making the link …' : 'Make a link'}
        </Button>
        <Button
          icon="code"
          disabled={make.isPending || fault !== null}
          disabledReason={reason}
          onClick={() => make.mutate('code')}
        >
          {make.isPending && make.variables === 'code' ? 'Making the code …' : 'Copy this map as code'}
        </Button>
      </div>
      {make.error && <ErrorNote error={make.error} />}
      {made?.use === 'link' && <MadeLink apiKey={made.key} styleId={styleId} name={name} />}
      {made?.use === 'code' && <MadeCode apiKey={made.key} styleId={styleId} name={name} />}
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

interface MadeProps {
  apiKey: ApiKey
  styleId: string
  name: string
}

function MadeLink({ apiKey, styleId, name }: MadeProps): ReactElement {
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

const codeChoices: readonly { value: CodeKind; label: string }[] = [
  { value: 'html', label: 'HTML' },
  { value: 'react', label: 'React' },
]

function MadeCode({ apiKey, styleId, name }: MadeProps): ReactElement {
  const [kind, setKind] = useState<CodeKind>('html')
  return (
    <Note kind="ok">
      <div className={layout.section}>
        <strong>The code is ready</strong>
        <span>
          A whole page with this map, its legend, popups and tools. The key in it can show this map and nothing else; it
          is listed below, where you can revoke it.
        </span>
        <Segmented<CodeKind>
          label="What the page is written in"
          value={kind}
          options={codeChoices}
          onChange={setKind}
        />
        <CodeBlock text={mapCode(kind, { server: serverUrl, key: apiKey.id, styleId, title: name })} label="code" />
      </div>
    </Note>
  )
}
