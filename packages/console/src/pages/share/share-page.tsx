/** The public page of a shared map. The key is in the URL's fragment; there is no session. */
import 'maplibre-gl/dist/maplibre-gl.css'
import '../../map/maplibre.css'
import { ApiError, type Client, createClient } from '@graticule/client'
import { GraticuleMap } from '@graticule/map/react'
import { legendsOf, recipesOf, themedStyle, usualTools } from '@graticule/map/recipe'
import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query'
import { getRouteApi, useLocation } from '@tanstack/react-router'
import { AttributionControl, NavigationControl, type StyleSpecification, setWorkerUrl } from 'maplibre-gl'
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url'
import { type ReactElement, useEffect, useMemo, useState } from 'react'
import { serverUrl } from '../../address.ts'
import { ErrorNote } from '../../components/error-note.tsx'
import { Empty, Skeleton } from '../../components/note.tsx'
import { collapseCredits } from '../../map/collapse-credits.ts'
import { Legend } from '../../map/legend.tsx'
import { toServer } from '../../map/map-requests.ts'
import { hasWebGl, NoWebGl } from '../../map/no-web-gl.tsx'
import { useSeenMap } from '../../map/use-seen-map.ts'
import { useTheme } from '../../theme.ts'
import { descriptionOf, themeOfStyle } from '../maps/recipe/map-style.ts'
import { keyInFragment } from '../maps/share/share-link.ts'
import classes from './share-page.module.css'

// The worker is a file, because the content security policy forbids blob workers.
setWorkerUrl(workerUrl)

const route = getRouteApi('/share/$styleId')

export function SharePage(): ReactElement {
  const [queries] = useState(() => new QueryClient({ defaultOptions: { queries: { retry: false } } }))
  const { styleId } = route.useParams()
  const key = keyInFragment(useLocation({ select: ({ hash }) => hash }))
  return (
    <QueryClientProvider client={queries}>
      <main className={classes.page}>
        {key ? <SharedMap key={key} styleId={styleId} apiKey={key} /> : <NotShared />}
      </main>
    </QueryClientProvider>
  )
}

interface SharedMapProps {
  styleId: string
  apiKey: string
}

function SharedMap({ styleId, apiKey }: SharedMapProps): ReactElement {
  const client = useMemo(() => createSharedClient(apiKey), [apiKey])
  const [isRevoked, setRevoked] = useState(false)
  const theme = useTheme()
  const {
    data: saved,
    error,
    refetch,
  } = useQuery({
    queryKey: ['shared', styleId],
    queryFn: ({ signal }) => client.maps.style<StyleSpecification>(styleId, { signal }),
    staleTime: 60_000,
  })
  const style = useMemo(() => saved && themedStyle(saved, theme), [saved, theme])
  const title = style?.name ?? 'Shared map'
  useEffect(() => {
    document.title = title
  }, [title])
  if (isRevoked || isRefusal(error)) return <NotShared />
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />
  if (!hasWebGl) return <NoWebGl />
  if (!style) return <Skeleton height="100%" />
  return (
    <GraticuleMap
      client={client}
      transformRequest={toServer(client)}
      style={style}
      recipes={sharedParts}
      attributionControl={false}
      locale={{ 'Map.Title': title }}
      onReady={({ gl }) => {
        gl.addControl(new NavigationControl({ showCompass: false }))
        gl.addControl(new AttributionControl({ compact: true }))
        collapseCredits(gl)
      }}
      onError={(event) => {
        // A refused tile means that the link was revoked while the page was open.
        if (/\b401\b/.test(event.detail.error.message)) setRevoked(true)
      }}
    >
      <SharedCard title={title} style={style} />
    </GraticuleMap>
  )
}

/** The legend is in the card, with the title. */
const sharedParts = ['popups', 'tools'] as const

/** Sends the origin as referrer, because a key may be restricted to origins; the page's own policy sends none. */
function createSharedClient(apiKey: string): Client {
  const referrerPolicy = 'origin'
  const client = createClient(serverUrl, apiKey, {
    fetch: (url, init) => fetch(url, { ...init, referrerPolicy }),
  })
  return {
    ...client,
    transformRequest: (url, type) => ({ ...client.transformRequest(url, type), referrerPolicy }),
  }
}

interface SharedCardProps {
  title: string
  style: StyleSpecification
}

function SharedCard({ title, style }: SharedCardProps): ReactElement {
  const description = descriptionOf(style)
  const { layers, tools = usualTools } = recipesOf(style)
  const hasSearch = tools.includes('search')
  const theme = themeOfStyle(style)
  const legends = legendsOf(layers, theme, undefined, useSeenMap(layers, theme))
  // The card has the title of the map, and one thing in one colour says its name.
  const isSaid = (heading: string, items: readonly { label: string }[]) =>
    (heading === title && legends.length === 1) || (items.length === 1 && items[0]?.label === heading)
  return (
    <div className={hasSearch ? `${classes.card} ${classes.belowSearch}` : classes.card}>
      <h1>{title}</h1>
      {description && <p>{description}</p>}
      {legends.length > 0 && (
        <details open={!isNarrow()}>
          <summary>Legend</summary>
          {legends.map(({ id, title: heading, items }) => (
            <Legend key={id} title={isSaid(heading, items) ? undefined : heading} items={items} />
          ))}
        </details>
      )}
    </div>
  )
}

/** In a small frame the legend is collapsed, because it would cover the map. */
const isNarrow = (): boolean => matchMedia('(max-width: 480px), (max-height: 360px)').matches

/** The key is revoked, expired or for another map or origin, or the map was deleted. */
const isRefusal = (error: unknown): boolean => error instanceof ApiError && [401, 403, 404].includes(error.status)

function NotShared(): ReactElement {
  useEffect(() => {
    document.title = 'Shared map'
  }, [])
  return (
    <Empty title="This map is no longer shared">
      <p>The link was revoked, has ended, or is not complete. Ask whoever sent it to you for another one.</p>
    </Empty>
  )
}
