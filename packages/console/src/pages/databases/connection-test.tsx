/** Tries a connection, and says how long it took and what answered, or in words why nothing did. */
import type { Database, DatabaseDriver, DatabaseTest } from '@graticule/client'
import { useMutation } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Note, StatusDot } from '../../components/note.tsx'
import { formatMs } from '../../format.ts'
import { useClient, useRefusal } from '../../session/session.tsx'
import classes from './databases.module.css'
import { useDriver } from './use-drivers.ts'

interface ConnectionTestProps {
  database: Database
}

export function ConnectionTest({ database }: ConnectionTestProps): ReactElement {
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
function tlsFact({ metadata: { ssl } }: Database, { fields }: DatabaseDriver): string | undefined {
  if (ssl === undefined || !fields.some(({ name }) => name === 'metadata.ssl')) return undefined
  return ssl === 'disable' ? 'without TLS' : 'with TLS'
}

function engineFacts(
  { serverVersion = '', postgisVersion = '' }: DatabaseTest,
  database: Database,
  driver: DatabaseDriver | undefined,
): (string | undefined)[] {
  if (!driver) return [serverVersion, postgisVersion && named('PostGIS', postgisVersion)]
  const [engine = '', extension] = driver.engines
  return [
    serverVersion && named(engine, serverVersion),
    extension && (postgisVersion ? named(extension, postgisVersion) : `no ${extension}`),
    tlsFact(database, driver),
  ]
}

/** Some versions begin with the name. */
const named = (engine: string, version: string): string =>
  version.startsWith(engine) ? version : `${engine} ${version}`

interface ResultProps {
  result: DatabaseTest
  database: Database
}

function Result({ result, database }: ResultProps): ReactElement {
  const driver = useDriver(database.type)
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
  const facts = [`Connected in ${formatMs(latencyMs)}`, ...engineFacts(result, database, driver)]
  return <StatusDot kind="ok">{facts.filter(Boolean).join(' · ')}</StatusDot>
}
