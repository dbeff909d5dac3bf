/** The query tab of a dataset: JSON (or the dataset's SQL) on the left, the result on the right. */
import type { Dataset } from '@graticule/client'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactElement, useEffect } from 'react'
import { Button } from '../../components/button.tsx'
import { Segmented, TextField } from '../../components/field.tsx'
import { Note } from '../../components/note.tsx'
import { Menu } from '../../components/popup/menu.tsx'
import { useClient, useRefusal } from '../../session/session.tsx'
import { useDataset } from './dataset.ts'
import { JsonQuery, ParameterFields } from './query/json-query.tsx'
import classes from './query/query.module.css'
import { queryExamples } from './query/query-examples.ts'
import { searchOf } from './query/query-search.ts'
import { type ChangeSession, type QuerySession, useQuerySession } from './query/query-session.ts'
import { queryText, readQuery } from './query/query-text.ts'
import { ResultPanel } from './query/result/result-panel.tsx'
import { runQuery, sentQuery } from './query/run-query.ts'
import { SqlQuery } from './query/sql-query.tsx'

const firstText = queryText({ where: {} })

export function QueryTab(): ReactElement {
  const dataset = useDataset()
  const [session, change] = useQuerySession(dataset.id)
  const { q, view } = useSearch({ from: '/shell/data/$datasetId/query' })
  const navigate = useNavigate({ from: '/data/$datasetId/query' })
  const textOfAddress = q && queryText(q)
  useEffect(() => {
    if (session.text === null && textOfAddress) change({ text: textOfAddress })
    if (view) change({ view })
  }, [session.text, textOfAddress, view, change])
  const text = session.text ?? textOfAddress ?? firstText
  const run = useRun(dataset, session, text, change)
  return (
    <div className={classes.tab}>
      <Toolbar dataset={dataset} session={session} change={change} onRun={run} />
      <div className={classes.panes}>
        <div className={classes.editor}>
          {textOfAddress && session.text !== null && !isSameQuery(session.text, textOfAddress) && (
            <OtherQuery onUse={() => change({ text: textOfAddress })} />
          )}
          <ParameterFields
            dataset={dataset}
            values={session.parameters}
            run={session.run}
            onChange={(parameters) => change({ parameters })}
          />
          {session.mode === 'sql' ? (
            <SqlQuery dataset={dataset} sql={session.sql} onChange={(sql) => change({ sql })} onRun={run} />
          ) : (
            <JsonQuery dataset={dataset} text={text} run={session.run} change={change} onRun={run} />
          )}
        </div>
        <ResultPanel
          dataset={dataset}
          run={session.run}
          view={session.view}
          onView={(next) => {
            change({ view: next })
            void navigate({ search: (last) => ({ ...last, view: next }), replace: true })
          }}
        />
      </div>
    </div>
  )
}

/** Runs the query and puts it into the URL. */
function useRun(dataset: Dataset, session: QuerySession, text: string, change: ChangeSession): () => void {
  const client = useClient()
  const navigate = useNavigate({ from: '/data/$datasetId/query' })
  const mayNot = useRefusal()('datasets', 'execute', dataset.id) !== undefined
  return () => {
    const { query } = readQuery(text, dataset.attributes)
    if (!query || mayNot || session.run.status === 'running') return
    void navigate({ search: searchOf(query, session.view), replace: true })
    void runQuery(client, dataset, sentQuery(query, session, text), { result: session.run.result, change })
  }
}

const isSameQuery = (one: string, other: string): boolean => squeezed(one) === squeezed(other)
const squeezed = (text: string): string => text.replaceAll(/\s/g, '')

interface OtherQueryProps {
  onUse(): void
}

function OtherQuery({ onUse }: OtherQueryProps): ReactElement {
  return (
    <Note>
      The address has another query than the one you wrote. <Button onClick={onUse}>Use that of the address</Button>
    </Note>
  )
}

interface ToolbarProps {
  dataset: Dataset
  session: QuerySession
  change: ChangeSession
  onRun(): void
}

function Toolbar({ dataset, session, change, onRun }: ToolbarProps): ReactElement {
  const { mode, limit, timeout, run, text } = session
  const refusal = useRefusal()('datasets', 'execute', dataset.id)
  const fault = readQuery(text ?? firstText, dataset.attributes).query ? undefined : 'The query is not valid JSON yet.'
  const hasSql = dataset.type === 'sql' || dataset.type === 'table'
  return (
    <div className={classes.toolbar}>
      {hasSql && (
        <Segmented
          label="Query language"
          value={mode}
          options={[
            { value: 'json', label: 'Query' },
            { value: 'sql', label: 'SQL' },
          ]}
          onChange={(next) => change({ mode: next })}
        />
      )}
      <Menu
        trigger={<Button icon="book">Examples</Button>}
        items={queryExamples(dataset.attributes).map(({ label, query }) => ({
          label,
          onSelect: () => change({ text: queryText(query), mode: 'json' }),
        }))}
      />
      <span className={classes.gap} />
      <TextField
        label="Limit"
        type="number"
        min={0}
        max={50_000}
        className={classes.number}
        value={limit}
        onChange={(value) => change({ limit: value })}
      />
      <TextField
        label="Timeout, s"
        type="number"
        min={1}
        max={300}
        className={classes.number}
        value={timeout}
        onChange={(value) => change({ timeout: value })}
      />
      {run.status === 'running' ? (
        <Button icon="stop" className={classes.run} onClick={() => run.controller.abort()}>
          Stop
        </Button>
      ) : (
        <Button
          variant="primary"
          icon="play"
          className={classes.run}
          disabledReason={refusal ?? fault}
          title="Ctrl+Enter"
          onClick={onRun}
        >
          Run
        </Button>
      )}
    </div>
  )
}
