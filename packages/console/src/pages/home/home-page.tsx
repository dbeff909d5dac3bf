/**
 * The home page: a world map of the tenant's data, and the status. The map is loaded after the lists, so that they do not
 * wait for MapLibre.
 */
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, type ReactElement, Suspense, useEffect } from 'react'
import { Button, buttonClass } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Icon } from '../../components/icon.tsx'
import { Page } from '../../components/page.tsx'
import { formatNumber } from '../../format.ts'
import { MapSkeleton } from '../../map/map-skeleton.tsx'
import { useRefusal, useSession } from '../../session/session.tsx'
import { subscribeUploadEnd } from '../../uploads/upload-store.ts'
import { GettingStarted } from './getting-started.tsx'
import classes from './home.module.css'
import { useExtents, useRecentDatasets } from './home-data.ts'
import { addedLast, isNewTenant, mapDatasets, totalRows } from './map-dataset.ts'
import { ListSkeleton, OnTheMap } from './on-the-map.tsx'
import { Status } from './status.tsx'

const DataMap = lazy(() => import('./data-map.tsx').then((module) => ({ default: module.DataMap })))

export function HomePage(): ReactElement {
  const { access } = useSession()
  const { data, error, refetch } = useRecentDatasets()
  const drawn = data ? mapDatasets(data.rows) : []
  const last = addedLast(drawn.map(({ dataset }) => dataset))
  const { shownIds, toggle } = useShown(last)
  const { extentOf, isKnown, drawable, failures } = useExtents(drawn.map(({ dataset }) => dataset.id))
  const shown = drawn.filter(({ dataset: { id } }) => drawable.has(id) && shownIds.includes(id))
  const extent = extentOf(shown.map(({ dataset }) => dataset.id))
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
            <DataMap shown={shown} extent={isKnown ? extent : undefined} extentOf={last.join()} />
          </Suspense>
        </div>
        {data && isNewTenant(data.rows) && <GettingStarted />}
        <aside aria-label="What there is" className={classes.side}>
          {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
          {data ? (
            <OnTheMap {...data} drawn={drawn} failures={failures} shownIds={shownIds} onToggle={toggle} />
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

/** What was added last is switched on, unless the URL says what is: `?show=id,id`. */
function useShown(last: readonly string[]): { shownIds: readonly string[]; toggle(id: string): void } {
  const { show } = useSearch({ from: '/shell/' })
  const navigate = useNavigate({ from: '/' })
  const shownIds = show === undefined ? last : show.split(',').filter(Boolean)
  const set = (search: { show?: string }) => void navigate({ to: '/', search, replace: true })
  useEffect(
    // New data come into view, whatever was looked at before.
    () =>
      subscribeUploadEnd(({ phase }) => phase === 'completed' && void navigate({ to: '/', search: {}, replace: true })),
    [navigate],
  )
  const toggle = (id: string) => {
    const next = shownIds.includes(id) ? shownIds.filter((other) => other !== id) : [...shownIds, id]
    set(isSame(next, last) ? {} : { show: next.join(',') })
  }
  return { shownIds, toggle }
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((id) => other.includes(id))

function factsOf({ rows: datasets, total }: { rows: Parameters<typeof totalRows>[0]; total: number }): string {
  const count = total === 1 ? '1 dataset' : `${formatNumber(total)} datasets`
  const rows = total === datasets.length && total > 0 ? totalRows(datasets) : undefined
  return rows === undefined ? count : `${count} · ${rows === 1 ? '1 row' : `${formatNumber(rows)} rows`}`
}
