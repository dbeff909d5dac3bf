/** Tries a connection, and says how long it took and what answered, or in words why nothing did. */
import type { Database, DatabaseTest } from '@graticule/client'
import { useMutation } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Note, StatusDot } from '../../components/note.tsx'
import { formatMs } from '../../format.ts'
import { useClient, useRefusal } from '../../session/session.tsx'
import classes from './databases.module.css'

export function ConnectionTest({ database }: { database: Database }): ReactElement {
  const client = useClient()
  const refusal = useRefusal()('databases', 'execute', database.id)
  const { mutate, data, error, isPending } = useMutation({ mutationFn: () => client.databases.test(database.id) })
  return (
    <div className={classes.test}>
      <Button icon="plug" disabledReason={refusal} disabled={isPending} onClick={() => mutate()}>
        {isPending ? 'Testing …' : 'Test the connection'}
      </Button>
      <div role="status" className={classes.testResult}>
        {!isPending && data && <Result result={data} database={database} />}
      </div>
      {!isPending && error && <ErrorNote error={error} />}
    </div>
  )
}

/** Where the record does not say it, the address decides, which only the server resolves. */
function tlsFact({ type, metadata: { ssl } }: Database): string | undefined {
  if (type === 'internal' || ssl === undefined) return undefined
  return ssl === 'disable' ? 'without TLS' : 'with TLS'
}

function engineFacts({ serverVersion, postgisVersion }: DatabaseTest, database: Database): (string | undefined)[] {
  // DuckDB's version has its name.
  if (database.type === 'duckdb') return [serverVersion]
  return [
    serverVersion && `PostgreSQL ${serverVersion}`,
    postgisVersion ? `PostGIS ${postgisVersion}` : 'no PostGIS',
    tlsFact(database),
  ]
}

function Result({ result, database }: { result: DatabaseTest; database: Database }): ReactElement {
  const { ok, latencyMs, error } = result
  if (!ok) {
    return (
      <Note kind="danger">
        <p>{error?.message ?? 'The connection failed.'}</p>
        <p className={classes.quiet}>
          <code>{error?.code}</code> after {formatMs(latencyMs)}
        </p>
      </Note>
    )
  }
  const facts = [`Connected in ${formatMs(latencyMs)}`, ...engineFacts(result, database)]
  return <StatusDot kind="ok">{facts.filter(Boolean).join(' · ')}</StatusDot>
}
