/** Beside the text: the tables of the database, the kept queries, and what was run in this tab. */
import type { Database } from '@graticule/client'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import { IconButton } from '../../components/button.tsx'
import { useConfirm } from '../../components/confirm.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Segmented } from '../../components/field.tsx'
import { Skeleton } from '../../components/note.tsx'
import { formatMs, formatNumber } from '../../format.ts'
import { useSession } from '../../session/session.tsx'
import { pastRuns } from './history.ts'
import { SchemaTree } from './schema-tree.tsx'
import classes from './sql.module.css'
import type { ChangeSql, SqlSession } from './sql-session.ts'
import { useForgetQuery, useSavedQueries } from './use-saved-queries.ts'

type Part = 'tables' | 'saved' | 'history'

interface SidePanelProps {
  database: Database
  session: SqlSession
  change: ChangeSql
}

export function SidePanel({ database, session, change }: SidePanelProps): ReactElement {
  const [part, setPart] = useState<Part>('tables')
  return (
    <aside aria-label="Tables and queries" className={classes.side}>
      <Segmented<Part>
        label="Beside the text"
        value={part}
        options={[
          { value: 'tables', label: 'Tables' },
          { value: 'saved', label: 'Saved' },
          { value: 'history', label: 'History' },
        ]}
        onChange={setPart}
      />
      {part === 'tables' && <SchemaTree key={database.id} database={database} session={session} change={change} />}
      {part === 'saved' && <SavedQueries />}
      {part === 'history' && <History change={change} />}
    </aside>
  )
}

function SavedQueries(): ReactElement {
  const { data, error } = useSavedQueries()
  const ask = useConfirm()
  const forget = useForgetQuery()
  const navigate = useNavigate()
  if (error) return <ErrorNote error={error} />
  if (!data) return <Skeleton height={120} />
  if (data.length === 0)
    return <p className={classes.quiet}>Queries that you save are here, for all who may read databases.</p>
  const remove = (id: string, name: string) =>
    ask({
      title: `Delete “${name}”?`,
      body: 'The query is deleted for everybody. Datasets made of it stay.',
      action: 'Delete',
      async onConfirm() {
        await forget(id)
        await navigate({ to: '/sql/{-$queryId}', params: { queryId: undefined } })
      },
    })
  return (
    <ul className={classes.entries}>
      {data.map(({ id, name, sql }) => (
        <li key={id} className={classes.entry}>
          <Link to="/sql/{-$queryId}" params={{ queryId: id }} activeProps={{ 'aria-current': 'page' }} title={sql}>
            {name}
          </Link>
          <IconButton icon="trash" label={`Delete ${name}`} onClick={() => remove(id, name)} />
        </li>
      ))}
      <li>
        <Link to="/sql/{-$queryId}" params={{ queryId: undefined }}>
          New query
        </Link>
      </li>
    </ul>
  )
}

interface HistoryProps {
  change: ChangeSql
}

function History({ change }: HistoryProps): ReactElement {
  const { applicationId } = useSession()
  const runs = pastRuns(applicationId)
  if (runs.length === 0) return <p className={classes.quiet}>What you run is listed here until this tab is closed.</p>
  return (
    <ul className={classes.entries}>
      {runs.map(({ sql, databaseId, at, rows, ms }) => (
        <li key={at}>
          <button type="button" className={classes.past} onClick={() => change({ sql, databaseId })}>
            <code>{sql}</code>
            <span className={classes.quiet}>
              {rows === null ? 'failed' : `${formatNumber(rows)} ${rows === 1 ? 'row' : 'rows'}`} · {formatMs(ms)}
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}
