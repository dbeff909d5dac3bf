/** The page of databases: connections on the left, the selected one with its tables on the right. */
import type { Database } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { lazy, type ReactElement, Suspense, useEffect } from 'react'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Empty, Skeleton, Tag } from '../../components/note.tsx'
import { Columns, layout, Page } from '../../components/page.tsx'
import { queryKeys } from '../../query-keys.ts'
import { useClient, useRefusal } from '../../session/session.tsx'
import { ConnectionState } from './connection-state.tsx'
import { DatabaseRecord } from './database-record.tsx'
import classes from './databases.module.css'
import { summaryOf } from './driver-form.ts'
import { useDrivers } from './use-drivers.ts'

const DatabaseForm = lazy(() => import('./database-form.tsx').then(({ DatabaseForm }) => ({ default: DatabaseForm })))
const route = getRouteApi('/shell/databases/{-$databaseId}')
/** Used in the URL instead of an id while the dialog for a new connection is open. */
const newId = 'new'

export function DatabasesPage(): ReactElement {
  const { databaseId } = route.useParams()
  const navigate = route.useNavigate()
  const client = useClient()
  const refusalOf = useRefusal()
  // The form is drawn from the list of drivers.
  const refusal = refusalOf('databases', 'write') ?? refusalOf('databases', 'execute')
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.databases.listWith({}),
    queryFn: ({ signal }) => client.databases.list({ sort: ['name'], limit: 1000, signal }),
  })
  const go = (id: string | undefined) => void navigate({ params: { databaseId: id } })
  const first = (data?.find((one) => one.default) ?? data?.[0])?.id
  useEffect(() => {
    // Selects the first one, except on phones, where the list fills the page.
    if (databaseId || !first || !matchMedia('(min-width: 701px)').matches) return
    void navigate({ params: { databaseId: first }, replace: true })
  }, [databaseId, first, navigate])
  const chosen = databaseId === newId ? undefined : data?.find(({ id }) => id === databaseId)
  return (
    <Page
      title="Databases"
      facts={data && `${data.length} ${data.length === 1 ? 'connection' : 'connections'}`}
      actions={
        <Button variant="primary" icon="plus" disabledReason={refusal} onClick={() => go(newId)}>
          Connect a database
        </Button>
      }
      isPadded={false}
    >
      {error && !data ? (
        <div className={layout.padded}>
          <ErrorNote error={error} onRetry={() => void refetch()} />
        </div>
      ) : (
        <Columns
          list={data ? <DatabaseList databases={data} /> : <ListSkeleton />}
          record={data && databaseId && databaseId !== newId ? <Chosen database={chosen} /> : null}
        />
      )}
      <Suspense>
        {databaseId === newId && (
          <DatabaseForm stored={null} onClose={() => go(undefined)} onSaved={({ id }) => go(id)} />
        )}
      </Suspense>
    </Page>
  )
}

interface ChosenProps {
  database: Database | undefined
}

function Chosen({ database }: ChosenProps): ReactElement {
  if (database) return <DatabaseRecord key={database.id} database={database} />
  return (
    <Empty title="There is no such database here">
      <p>It may have been deleted, it may belong to another application, or this key may not read it.</p>
    </Empty>
  )
}

interface DatabaseListProps {
  databases: readonly Database[]
}

function DatabaseList({ databases }: DatabaseListProps): ReactElement {
  const { drivers } = useDrivers()
  const driverOf = ({ type }: Database) => drivers?.find(({ name }) => name === type)
  return (
    <nav aria-label="Databases" className={classes.list}>
      {databases.map((database) => (
        <Link
          key={database.id}
          to="/databases/{-$databaseId}"
          params={{ databaseId: database.id }}
          activeProps={{ 'aria-current': 'page' }}
        >
          <span className={classes.itemName}>
            {database.name}
            {database.default && <Tag>default</Tag>}
          </span>
          <span className={classes.quiet}>{summaryOf(database, driverOf(database))}</span>
          <ConnectionState database={database} />
        </Link>
      ))}
      {databases.every((database) => driverOf(database)?.isPlatform) && (
        <p className={classes.invitation}>
          Tables of a PostGIS database become datasets and maps where they are: nothing is copied. Connect it, choose
          tables, publish.
        </p>
      )}
    </nav>
  )
}

function ListSkeleton(): ReactElement {
  return (
    <div className={`${layout.padded} ${layout.section}`}>
      <Skeleton height={40} />
      <Skeleton height={40} />
    </div>
  )
}
