/** The tables and views of a database: search, select, publish as datasets. */
import type { Client, Database, DatabaseTable } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Checkbox, Select, TextField } from '../../components/field.tsx'
import { Empty, Note, Skeleton } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import { formatNumber } from '../../format.ts'
import { queryKeys } from '../../query-keys.ts'
import { useClient, useMay, useRefusal } from '../../session/session.tsx'
import classes from './databases.module.css'
import { tableKey } from './publish-tables.ts'
import { TableList } from './table-list.tsx'
import { useDriver } from './use-drivers.ts'
import { usePublish } from './use-publish.ts'

const pageSize = 1000
/** The server's limit when it publishes. */
const mostPages = 10

async function fetchTables(client: Client, id: string, signal: AbortSignal): Promise<DatabaseTable[]> {
  const tables: DatabaseTable[] = []
  for (let page = 0; page < mostPages; page++) {
    const batch = await client.databases.tables(id, { limit: pageSize, offset: page * pageSize, signal })
    tables.push(...batch)
    if (batch.length < pageSize) break
  }
  return tables
}

interface DatabaseTablesProps {
  database: Database
}

export function DatabaseTables({ database: { id, type } }: DatabaseTablesProps): ReactElement {
  const client = useClient()
  const mayList = useMay()('databases', 'execute', id)
  const driver = useDriver(type)
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: queryKeys.databases.one(id, 'tables', { all: true }),
    queryFn: ({ signal }) => fetchTables(client, id, signal),
    enabled: mayList,
  })
  if (!mayList) return <Note>This key may not list the tables: it needs execute on databases.</Note>
  if (error && !data) return <ErrorNote error={error} onRetry={() => void refetch()} />
  if (!data) return <TablesSkeleton />
  if (data.length === 0) {
    return (
      <Empty title="No tables" action={<Button onClick={() => void refetch()}>Look again</Button>}>
        <p>{driver?.contents ?? 'Tables that this connection may read'} would be here.</p>
      </Empty>
    )
  }
  return <Tables databaseId={id} tables={data} isOld={isFetching} />
}

interface TablesProps {
  databaseId: string
  tables: readonly DatabaseTable[]
  isOld: boolean
}

function Tables({ databaseId, tables, isOld }: TablesProps): ReactElement {
  const [text, setText] = useState('')
  const [schema, setSchema] = useState('')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const schemas = [...new Set(tables.map((table) => table.schema))]
  const shown = tables.filter((table) => matches(table, text) && (schema === '' || table.schema === schema))
  const free = tables.filter((table) => table.datasetId === null && chosen.has(tableKey(table)))
  const publishing = usePublish(databaseId, () => setChosen(new Set()))
  return (
    <section aria-label="Tables" className={classes.tables} aria-busy={isOld}>
      <div className={classes.toolbar}>
        <TextField
          type="search"
          label="Search tables"
          isLabelHidden
          placeholder="Search name or comment"
          className={classes.search ?? ''}
          value={text}
          onChange={setText}
        />
        {schemas.length > 1 && (
          <Select
            label="Schema"
            isLabelHidden
            value={schema}
            options={[{ value: '', label: 'All schemas' }, ...schemas]}
            onChange={setSchema}
          />
        )}
        <span className={classes.quiet}>
          {shown.length === tables.length ? '' : `${formatNumber(shown.length)} of `}
          {formatNumber(tables.length)} {tables.length === 1 ? 'table' : 'tables'}
        </span>
      </div>
      <PublishBar tables={free} publishing={publishing} />
      {shown.length === 0 ? (
        <Empty title="No table matches" action={<Button onClick={() => setText('')}>Clear the search</Button>} />
      ) : (
        <TableList
          databaseId={databaseId}
          tables={shown}
          chosen={chosen}
          outcomes={publishing.outcomes}
          onChoose={setChosen}
        />
      )}
    </section>
  )
}

function matches({ schema, name, comment }: DatabaseTable, text: string): boolean {
  const words = text.trim().toLowerCase()
  return `${schema}.${name} ${comment}`.toLowerCase().includes(words)
}

interface PublishBarProps {
  tables: readonly DatabaseTable[]
  publishing: ReturnType<typeof usePublish>
}

function PublishBar({ tables, publishing }: PublishBarProps): ReactElement {
  const { publish, stop, isPending, total, outcomes, error } = publishing
  const [withTiles, setWithTiles] = useState(true)
  const may = useMay()
  const refusal = useRefusal()('datasets', 'write')
  const mayTile = may('tiles', 'write')
  const reason = refusal ?? (tables.length === 0 ? 'Tick the tables to publish first.' : undefined)
  const left = outcomes.filter(({ datasetId }) => datasetId === null).length
  return (
    <div className={layout.section}>
      <div className={layout.row}>
        {isPending ? (
          <Button icon="stop" onClick={stop}>
            Stop
          </Button>
        ) : (
          <Button
            variant="primary"
            disabledReason={reason}
            onClick={() => publish({ tables, withTiles: withTiles && mayTile })}
          >
            {tables.length === 0 ? 'Publish' : `Publish ${formatNumber(tables.length)}`}
          </Button>
        )}
        {isPending ? (
          <span role="status" className={classes.quiet}>
            {formatNumber(outcomes.length)} of {formatNumber(total)} published …
          </span>
        ) : (
          mayTile && (
            <Checkbox
              label="Serve those with a geometry as map tiles too"
              isChecked={withTiles}
              onChange={setWithTiles}
            />
          )
        )}
      </div>
      {!isPending && outcomes.length > 0 && (
        <Note kind={left === 0 ? 'ok' : 'warn'}>
          {formatNumber(outcomes.length - left)} published
          {left > 0 && `, ${formatNumber(left)} left out: the rows below say why`}.
        </Note>
      )}
      {error && <ErrorNote error={error} />}
    </div>
  )
}

function TablesSkeleton(): ReactElement {
  return (
    <div className={layout.section}>
      {Array.from({ length: 5 }, (_, index) => (
        <Skeleton key={index} height={28} />
      ))}
    </div>
  )
}
