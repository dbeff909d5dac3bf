/** What a run brought: rows as a table, a map or JSON, and the plan as a picture. */
import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactElement, Suspense, useMemo } from 'react'
import { ErrorNote } from '../../components/error-note.tsx'
import { Segmented } from '../../components/field.tsx'
import { Empty, Kbd, Note, Skeleton } from '../../components/note.tsx'
import { formatMs, formatNumber } from '../../format.ts'
import { queryKeys } from '../../query-keys.ts'
import { useClient } from '../../session/session.tsx'
import { PlanSteps } from '../dataset/query/plan-view.tsx'
import { columnsOf } from '../dataset/query/result/result.ts'
import { ResultJson } from '../dataset/query/result/result-json.tsx'
import { ResultTable } from '../dataset/query/result/result-table.tsx'
import classes from './sql.module.css'
import type { ChangeSql, SqlResult, SqlSession, SqlView } from './sql-session.ts'

const ResultMap = lazy(async () => ({
  default: (await import('../dataset/query/result/result-map.tsx')).ResultMap,
}))

const views: readonly { value: SqlView; label: string }[] = [
  { value: 'table', label: 'Table' },
  { value: 'map', label: 'Map' },
  { value: 'json', label: 'JSON' },
  { value: 'plan', label: 'Plan' },
]

interface SqlOutcomeProps {
  session: SqlSession
  change: ChangeSql
}

export function SqlOutcome({ session: { run, view }, change }: SqlOutcomeProps): ReactElement {
  const { result, status } = run
  return (
    <section aria-label="Result" className={classes.outcome} aria-busy={status === 'running'}>
      <div className={classes.bar}>
        <Segmented label="Result as" value={view} options={views} onChange={(next) => change({ view: next })} />
        <span role="status" className={classes.facts}>
          {status === 'running' ? 'Running …' : result && factsOf(result)}
        </span>
      </div>
      {status === 'failed' && <ErrorNote error={run.error} />}
      {status === 'stopped' && <Note>Stopped. The database was told to stop, too.</Note>}
      {result ? (
        <div className={classes.shown} data-is-old={status !== 'done'}>
          <Shown result={result} view={view} />
        </div>
      ) : (
        status === 'idle' && (
          <Empty title="Nothing has run yet">
            <p>
              Choose a table or write a SELECT, and run it with <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd>. The rows come here as
              a table and on a map, with the plan of the database.
            </p>
          </Empty>
        )
      )}
    </section>
  )
}

function factsOf({ rows, limit, ms }: SqlResult): string {
  const count = `${formatNumber(rows.length)} ${rows.length === 1 ? 'row' : 'rows'}`
  return `${count}${rows.length > 0 && rows.length === limit ? ', the limit' : ''} · ${formatMs(ms)}`
}

interface ShownProps {
  result: SqlResult
  view: SqlView
}

function Shown({ result, view }: ShownProps): ReactElement {
  const { rows, attributes } = result
  const columns = useMemo(() => columnsOf(rows, attributes), [rows, attributes])
  if (view === 'plan') return <Plan result={result} />
  if (rows.length === 0) return <Note>No row matches. The plan says how the database would look for them.</Note>
  if (view === 'json') return <ResultJson rows={rows} />
  if (view === 'table') return <ResultTable rows={rows} columns={columns} />
  const geometry = columns.find(({ type }) => type === 'geometry')
  if (!geometry) return <Note>These rows have no geometry. Select the geometry column, too.</Note>
  return (
    <Suspense fallback={<Skeleton height="100%" />}>
      <ResultMap rows={rows} column={geometry.name} name="this query" />
    </Suspense>
  )
}

function Plan({ result: { databaseId, sql, attributes, limit } }: Pick<ShownProps, 'result'>): ReactElement {
  const client = useClient()
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.databases.one(databaseId, 'plan', sql, limit),
    queryFn: ({ signal }) => client.databases.query(databaseId, { sql, limit, explain: true }, { signal }),
  })
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />
  return data ? <PlanSteps plan={data.plan} attributes={attributes} /> : <Skeleton height={160} />
}
