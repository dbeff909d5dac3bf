/** The activity page: the audit log, who did what, when and from where, with filters and an export. */
import type { AuditPage } from '@graticule/client'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type MouseEvent, type ReactElement, useEffect, useRef } from 'react'
import { Button, buttonClass, IconButton } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Empty, Skeleton } from '../../components/note.tsx'
import { layout, Page } from '../../components/page.tsx'
import { useMayReadActivity } from '../../session/application-rights.ts'
import classes from './activity.module.css'
import { ActivityList } from './activity-list.tsx'
import { type Names, useNames } from './activity-names.ts'
import { useActivity } from './activity-query.ts'
import { type ActivitySearch, isFiltered, withChanges } from './activity-search.ts'
import { ActivityToolbar } from './activity-toolbar.tsx'
import { EntrySheet } from './entry-sheet.tsx'
import { ExportActivity } from './export-activity.tsx'

const route = getRouteApi('/shell/activity')

export function ActivityPage(): ReactElement {
  if (useMayReadActivity()) return <Activity />
  return (
    <Page title="Activity">
      <Empty title="This key may not read the activity">
        <p>
          Who did what, when and from where is shown to keys and users with write on their own application. Sign in with
          another key, such as the developer key.
        </p>
      </Empty>
    </Page>
  )
}

function Activity(): ReactElement {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, isPlaceholderData, isFetching, refetch } = useActivity(search)
  const names = useNames(data?.entries ?? [])
  const actions = (
    <>
      <IconButton icon="refresh" label="Refresh" disabled={isFetching} onClick={() => void refetch()} />
      <ExportActivity search={search} />
    </>
  )
  return (
    <Page title="Activity" facts="Changes, sign-ins and refusals, newest first" actions={actions} isPadded={false}>
      <ActivityToolbar
        search={search}
        names={names}
        onChange={(changes, replace = false) => void navigate({ search: (old) => withChanges(old, changes), replace })}
      />
      {error && (
        <div className={layout.padded}>
          <ErrorNote error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {!data && !error && <ListSkeleton />}
      {data && <Entries page={data} names={names} isOld={isPlaceholderData} />}
    </Page>
  )
}

interface EntriesProps {
  page: AuditPage
  names: Names
  isOld: boolean
}

function Entries({ page, names, isOld }: EntriesProps): ReactElement {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { top, onTurn } = usePageTop(page)
  const opened = page.entries.find(({ id }) => id === search.entry)
  if (page.entries.length === 0) return <Nothing search={search} />
  return (
    <>
      <div ref={top} tabIndex={-1} className={classes.entries}>
        <ActivityList
          entries={page.entries}
          names={names}
          isOld={isOld}
          onOpen={(entry) => void navigate({ search: (old) => ({ ...old, entry }) })}
        />
      </div>
      <Pager next={page.next} search={search} onTurn={(event) => (isOld ? event.preventDefault() : onTurn())} />
      {opened && (
        <EntrySheet
          entry={opened}
          names={names}
          onClose={() => void navigate({ search: ({ entry: _, ...old }) => old })}
        />
      )}
    </>
  )
}

/** Whoever turns a page by the links at its end goes on reading at the beginning of the next one. */
function usePageTop(page: AuditPage) {
  const top = useRef<HTMLDivElement>(null)
  const turnedFrom = useRef<AuditPage>(null)
  useEffect(() => {
    if (turnedFrom.current === null || turnedFrom.current === page) return
    turnedFrom.current = null
    top.current?.scrollIntoView({ block: 'start' })
    top.current?.focus({ preventScroll: true })
  }, [page])
  const onTurn = () => {
    turnedFrom.current = page
  }
  return { top, onTurn }
}

interface NothingProps {
  search: ActivitySearch
}

function Nothing({ search }: NothingProps): ReactElement {
  const navigate = route.useNavigate()
  if (isFiltered(search)) {
    return (
      <Empty
        title="No entry matches"
        action={<Button onClick={() => void navigate({ search: {} })}>Clear the filters</Button>}
      >
        <p>The log has other entries, or had: old ones are deleted after a time that the operator sets.</p>
      </Empty>
    )
  }
  return (
    <Empty title="Nothing happened yet">
      <p>
        Whatever changes data, maps, keys, users or settings leaves an entry here: who, what, when, from where. So do
        sign-ins and what was refused.
      </p>
    </Empty>
  )
}

interface PagerProps {
  next: string | null
  search: ActivitySearch
  onTurn(event: MouseEvent): void
}

function Pager({ next, search, onTurn }: PagerProps): ReactElement | null {
  if (!next && !search.after) return null
  return (
    <nav aria-label="Pages" className={classes.pager}>
      {search.after && (
        <Link to="/activity" search={withChanges(search, {})} className={buttonClass()} onClick={onTurn}>
          Newest
        </Link>
      )}
      {next ? (
        <Link to="/activity" search={withChanges(search, { after: next })} className={buttonClass()} onClick={onTurn}>
          Older
        </Link>
      ) : (
        <span>This is the oldest.</span>
      )}
    </nav>
  )
}

function ListSkeleton(): ReactElement {
  return (
    <div className={`${layout.padded} ${layout.section}`}>
      {Array.from({ length: 8 }, (_, index) => (
        <Skeleton key={index} height={28} />
      ))}
    </div>
  )
}
