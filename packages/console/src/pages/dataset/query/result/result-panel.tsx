/** The result of a run: table, map, JSON, query plan, timing, and snippets for other tools. */
import type { Dataset } from '@graticule/client'
import { lazy, type ReactElement, Suspense, useEffect, useMemo, useState } from 'react'
import { Copyable } from '../../../../components/copyable.tsx'
import { ErrorNote } from '../../../../components/error-note.tsx'
import { Segmented } from '../../../../components/field.tsx'
import { Empty, Kbd, Note, Skeleton } from '../../../../components/note.tsx'
import { formatMs, formatNumber } from '../../../../format.ts'
import { SnippetPanel } from '../../snippets/snippet-panel.tsx'
import { PlanView } from '../plan-view.tsx'
import classes from '../query.module.css'
import type { ResultView, Run, RunResult } from '../query-session.ts'
import { columnsOf } from './result.ts'
import { ResultJson } from './result-json.tsx'
import { ResultTable } from './result-table.tsx'

const ResultMap = lazy(async () => ({ default: (await import('./result-map.tsx')).ResultMap }))

export interface ResultPanelProps {
  dataset: Dataset
  run: Run
  view: ResultView
  onView(view: ResultView): void
}

const viewLabels: readonly { value: ResultView; label: string }[] = [
  { value: 'table', label: 'Table' },
  { value: 'map', label: 'Map' },
  { value: 'json', label: 'JSON' },
  { value: 'plan', label: 'Plan' },
]

export function ResultPanel({ dataset, run, view, onView }: ResultPanelProps): ReactElement {
  const { result } = run
  return (
    <section aria-label="Result" className={classes.result} aria-busy={run.status === 'running'}>
      <div className={classes.bar}>
        <Segmented label="Result as" value={view} options={viewLabels} onChange={onView} />
        <RunFacts run={run} />
      </div>
      {run.status === 'failed' && <ErrorNote error={run.error} />}
      {run.status === 'stopped' && <Note>Stopped. The database was told to stop, too.</Note>}
      {result ? (
        <>
          <div className={classes.shown} data-is-old={run.status !== 'done'}>
            <ShownResult dataset={dataset} result={result} view={view} />
          </div>
          <details className={classes.snippets}>
            <summary>This query as code</summary>
            <SnippetPanel dataset={dataset} query={result.query} parameters={result.parameters} />
          </details>
        </>
      ) : (
        <NoResult run={run} />
      )}
    </section>
  )
}

interface NoResultProps {
  run: Run
}

function NoResult({ run }: NoResultProps): ReactElement | null {
  if (run.status === 'running') return <Skeleton height={200} />
  if (run.status !== 'idle') return null
  return (
    <Empty title="No query has run yet">
      <p>
        Rows, map and plan of the query appear here. Run it with <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd>.
      </p>
    </Empty>
  )
}

interface RunFactsProps {
  run: Run
}

/** 200 rows · 42 ms · request 0b6f… */
function RunFacts({ run }: RunFactsProps): ReactElement {
  const { result, status } = run
  return (
    <div role="status" className={classes.facts}>
      {status === 'running' && <Elapsed startedAt={run.startedAt} />}
      {status !== 'running' && result && (
        <>
          <span>
            {formatNumber(result.rows.length)} {result.rows.length === 1 ? 'row' : 'rows'}
            {isCut(result) && ', the limit'} · {formatMs(result.ms)}
            {status !== 'done' && ' (last run)'}
          </span>
          {result.requestId && <Copyable text={result.requestId} label="request id" />}
        </>
      )}
    </div>
  )
}

/** Whether the limit may have cut off rows. */
const isCut = ({ rows, query }: RunResult): boolean => rows.length > 0 && rows.length === query.limit

interface ElapsedProps {
  startedAt: number
}

function Elapsed({ startedAt }: ElapsedProps): ReactElement {
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setSeconds(Math.round((performance.now() - startedAt) / 1000)), 1000)
    return () => clearInterval(timer)
  }, [startedAt])
  return <span>Running …{seconds > 0 && ` ${seconds} s`}</span>
}

interface ShownResultProps {
  dataset: Dataset
  result: RunResult
  view: ResultView
}

function ShownResult({ dataset, result, view }: ShownResultProps): ReactElement {
  const { rows } = result
  const columns = useMemo(() => columnsOf(rows, dataset.attributes), [rows, dataset.attributes])
  if (view === 'plan') return <PlanView dataset={dataset} sent={result} />
  if (rows.length === 0) return <Note>No row matches. The plan says how the database would look for them.</Note>
  if (view === 'json') return <ResultJson rows={rows} />
  if (view === 'table') return <ResultTable rows={rows} columns={columns} />
  const geometry = columns.find(({ type }) => type === 'geometry')
  if (!geometry) {
    return <Note>These rows have no geometry. Leave out group and aggregates, or ask for the geometry too.</Note>
  }
  return (
    <Suspense fallback={<Skeleton height="100%" />}>
      <ResultMap rows={rows} column={geometry.name} name={dataset.name} />
    </Suspense>
  )
}
