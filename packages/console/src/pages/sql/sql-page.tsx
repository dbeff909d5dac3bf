/** The SQL page: any database of the application, its tables on the left, the text with its result on the right. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactElement, useEffect, useMemo } from 'react'
import { buttonClass } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Empty, Skeleton } from '../../components/note.tsx'
import { Page } from '../../components/page.tsx'
import { queryKeys } from '../../query-keys.ts'
import { useClient, useRefusal, useSession } from '../../session/session.tsx'
import { runSql } from './run-sql.ts'
import { SidePanel } from './side-panel.tsx'
import classes from './sql.module.css'
import { SqlEditor } from './sql-editor.tsx'
import { SqlOutcome } from './sql-outcome.tsx'
import { type ChangeSql, type SqlSession, useSqlSession } from './sql-session.ts'
import { SqlToolbar } from './sql-toolbar.tsx'
import { useSavedQuery } from './use-saved-queries.ts'

const route = getRouteApi('/shell/sql/{-$queryId}')

export function SqlPage(): ReactElement {
  const refusal = useSqlRefusal()
  if (refusal === undefined) return <AllowedPage />
  return (
    <Page title="SQL">
      <Empty title="This key cannot run SQL">
        <p>{refusal}</p>
      </Empty>
    </Page>
  )
}

/** What is needed to make a dataset of SQL and to read it. */
function useSqlRefusal(): string | undefined {
  const refusalOf = useRefusal()
  return (
    refusalOf('databases', 'execute') ??
    refusalOf('databases', 'read') ??
    refusalOf('datasets', 'write') ??
    refusalOf('datasets', 'execute')
  )
}

function NoDatabase(): ReactElement {
  return (
    <Page title="SQL">
      <Empty
        title="This application has no database"
        action={
          <Link to="/databases/{-$databaseId}" className={buttonClass()}>
            Databases
          </Link>
        }
      >
        <p>SQL is run in a database of the application. Connect one first.</p>
      </Empty>
    </Page>
  )
}

function AllowedPage(): ReactElement {
  const client = useClient()
  const { queryId } = route.useParams()
  const [session, change] = useSqlSession(queryId)
  const stored = useSavedQuery(queryId)
  useStoredText(stored.data, session, change)
  const { data: databases, error } = useQuery({
    queryKey: queryKeys.databases.listWith({}),
    queryFn: ({ signal }) => client.databases.list({ sort: ['name'], limit: 1000, signal }),
  })
  const fallback = databases?.find((one) => one.default) ?? databases?.[0]
  const database = databases?.find(({ id }) => id === session.databaseId) ?? fallback
  const run = useRun(database?.id, session, change)
  if (error) return <Page title="SQL" children={<ErrorNote error={error} />} />
  if (!databases) return <Page title="SQL" children={<Skeleton height={240} />} />
  if (!database) return <NoDatabase />
  return (
    <Page title="SQL" facts={stored.data?.name ?? 'One SELECT, with the rights of this application'} isPadded={false}>
      <div className={classes.page}>
        <SidePanel database={database} session={session} change={change} />
        <div className={classes.work}>
          <SqlToolbar
            databases={databases}
            database={database}
            stored={stored.data}
            session={session}
            change={change}
            onRun={run}
          />
          <SqlEditor database={database} session={session} change={change} onRun={run} />
          <SqlOutcome session={session} change={change} />
        </div>
      </div>
    </Page>
  )
}

/** A kept query fills an editor in which nothing was written yet. */
function useStoredText(
  stored: { sql: string; databaseId: string | null } | undefined,
  { sql }: SqlSession,
  change: ChangeSql,
): void {
  const isEmpty = sql === ''
  useEffect(() => {
    if (stored && isEmpty) change({ sql: stored.sql, databaseId: stored.databaseId })
  }, [stored, isEmpty, change])
}

function useRun(databaseId: string | undefined, session: SqlSession, change: ChangeSql): () => void {
  const client = useClient()
  const { applicationId } = useSession()
  return useMemo(
    () => () => {
      const { sql, limit, run: last } = session
      if (databaseId === undefined || sql.trim() === '' || last.status === 'running') return
      void runSql(client, { sql, databaseId, limit, applicationId, last }, change)
    },
    [client, databaseId, session, change, applicationId],
  )
}
