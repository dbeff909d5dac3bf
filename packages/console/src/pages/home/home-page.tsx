/**
 * The home page: a world map of the tenant's data, and the status. The map is loaded after the lists, so that they do not
 * wait for MapLibre.
 */
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, type ReactElement, Suspense } from 'react'
import { Button, buttonClass } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Icon } from '../../components/icon.tsx'
import { Page } from '../../components/page.tsx'
import { formatNumber } from '../../format.ts'
import { MapSkeleton } from '../../map/map-skeleton.tsx'
import { useRefusal, useSession } from '../../session/session.tsx'
import { GettingStarted } from './getting-started.tsx'
import classes from './home.module.css'
import { useExtents, useRecentDatasets } from './home-data.ts'
import { isNewTenant, mapDatasets, totalRows } from './map-dataset.ts'
import { ListSkeleton, OnTheMap } from './on-the-map.tsx'
import { Status } from './status.tsx'

const DataMap = lazy(() => import('./data-map.tsx').then((module) => ({ default: module.DataMap })))

export function HomePage(): ReactElement {
  const { access } = useSession()
  const { data, error, refetch } = useRecentDatasets()
  const { hidden, toggle } = useHidden()
  const drawn = data ? mapDatasets(data.rows) : []
  const { extent, isKnown, drawable, failures } = useExtents(drawn.map(({ dataset }) => dataset.id))
  const shown = drawn.filter(({ dataset: { id } }) => drawable.has(id) && !hidden.includes(id))
  return (
    <Page
      title={access.application?.name ?? 'All applications'}
      facts={data && factsOf(data)}
      actions={<AddData />}
      isPadded={false}
    >
      <div className={classes.home}>
        <div className={classes.map}>
          <Suspense fallback={<MapSkeleton />}>
            <DataMap shown={shown} extent={extent} isExtentKnown={data !== undefined && isKnown} />
          </Suspense>
        </div>
        {data && isNewTenant(data.rows) && <GettingStarted />}
        <aside aria-label="What there is" className={classes.side}>
          {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
          {data ? (
            <OnTheMap {...data} drawn={drawn} failures={failures} hidden={hidden} onToggle={toggle} />
          ) : (
            !error && <ListSkeleton />
          )}
          <Status />
        </aside>
      </div>
    </Page>
  )
}

function AddData(): ReactElement {
  const refusal = useRefusal()('uploads', 'execute')
  if (refusal) {
    return (
      <Button icon="plus" disabledReason={refusal}>
        Add data
      </Button>
    )
  }
  return (
    <Link to="/data" search={{ add: 'file' } as never} className={buttonClass('primary')}>
      <Icon name="plus" />
      Add data
    </Link>
  )
}

/** Hidden datasets are in the URL: `?hide=id,id`. */
function useHidden(): { hidden: readonly string[]; toggle(id: string): void } {
  const { hide = '' } = useSearch({ from: '/shell/' })
  const navigate = useNavigate({ from: '/' })
  const hidden = hide.split(',').filter(Boolean)
  const toggle = (id: string) => {
    const next = hidden.includes(id) ? hidden.filter((other) => other !== id) : [...hidden, id]
    void navigate({ to: '/', search: next.length > 0 ? { hide: next.join(',') } : {}, replace: true })
  }
  return { hidden, toggle }
}

function factsOf({ rows: datasets, total }: { rows: Parameters<typeof totalRows>[0]; total: number }): string {
  const count = total === 1 ? '1 dataset' : `${formatNumber(total)} datasets`
  const rows = total === datasets.length && total > 0 ? totalRows(datasets) : undefined
  return rows === undefined ? count : `${count} · ${rows === 1 ? '1 row' : `${formatNumber(rows)} rows`}`
}
