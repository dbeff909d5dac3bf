/** The tables of a database, each with its columns once it is opened. Both write themselves into the text. */
import type { Database, DatabaseTable } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import { sqlName } from '../../components/code-editor/sql-name.ts'
import { ErrorNote } from '../../components/error-note.tsx'
import { GeometryGlyph, geometryKind } from '../../components/geometry-glyph.tsx'
import { Skeleton } from '../../components/note.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { formatNumber } from '../../format.ts'
import { queryKeys } from '../../query-keys.ts'
import { useClient } from '../../session/session.tsx'
import classes from './sql.module.css'
import type { ChangeSql, SqlSession } from './sql-session.ts'

const most = 500

interface SchemaTreeProps {
  database: Database
  session: SqlSession
  change: ChangeSql
}

export function SchemaTree({ database, session, change }: SchemaTreeProps): ReactElement {
  const client = useClient()
  const [search, setSearch] = useState('')
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.databases.one(database.id, 'tables'),
    queryFn: ({ signal }) => client.databases.tables(database.id, { limit: most, signal }),
  })
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={160} />
  if (data.length === 0) {
    return <p className={classes.quiet}>There are no tables yet. Uploads and published tables appear here.</p>
  }
  const shown = data.filter(({ source }) => source.toLowerCase().includes(search.toLowerCase()))
  const insert = (text: string) => change({ sql: session.sql + (/[\s(]$|^$/.test(session.sql) ? '' : ' ') + text })
  return (
    <>
      {data.length > 8 && (
        <SearchField label="Search tables" placeholder="Search tables" value={search} onChange={setSearch} />
      )}
      <ul className={classes.entries}>
        {shown.map((table) => (
          <TableEntry
            key={table.source}
            database={database}
            table={table}
            onSelect={() => change({ sql: `SELECT *\nFROM ${table.source}` })}
            onInsert={insert}
          />
        ))}
      </ul>
    </>
  )
}

interface TableEntryProps {
  database: Database
  table: DatabaseTable
  onSelect(): void
  onInsert(text: string): void
}

function TableEntry({ database, table, onSelect, onInsert }: TableEntryProps): ReactElement {
  const { source, rows, geometryType } = table
  const [isOpen, setOpen] = useState(false)
  return (
    <li>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <GeometryGlyph kind={geometryKind(geometryType)} />
          <span className={classes.tableName}>{source}</span>
          {rows !== null && <span className={classes.quiet}>{formatNumber(rows)}</span>}
        </summary>
        {isOpen && <ColumnList database={database} table={table} onInsert={onInsert} />}
        <button type="button" className={classes.select} onClick={onSelect}>
          Select its rows
        </button>
      </details>
    </li>
  )
}

/** The columns are those of a query that asks for none of its rows: that holds for every kind of database. */
function ColumnList({ database, table, onInsert }: Omit<TableEntryProps, 'onSelect'>): ReactElement {
  const client = useClient()
  const sql = `SELECT * FROM ${table.source}`
  const { data, error } = useQuery({
    queryKey: queryKeys.databases.one(database.id, 'columns', table.source),
    queryFn: ({ signal }) => client.databases.query(database.id, { sql, limit: 0 }, { signal }),
    staleTime: 60_000,
  })
  if (error) return <ErrorNote error={error} />
  if (!data) return <Skeleton height={60} />
  return (
    <ul className={classes.columns}>
      {(data.attributes ?? []).map(({ name, dbType }) => (
        <li key={name}>
          <button type="button" className={classes.column} onClick={() => onInsert(sqlName(name))}>
            {name}
            <span className={classes.quiet}>{dbType}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}
