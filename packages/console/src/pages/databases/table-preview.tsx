/** What a table holds, before it is published: how many rows, where they are, and the first of them, on a map too. */
import type { DatabaseTable } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactElement, Suspense, useMemo } from 'react'
import { Dialog } from '../../components/dialog.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Note, Skeleton } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import { formatNumber } from '../../format.ts'
import { queryKeys } from '../../query-keys.ts'
import { useClient } from '../../session/session.tsx'
import { boundsOf, columnsOf, featuresOf } from '../dataset/query/result/result.ts'
import { ResultTable } from '../dataset/query/result/result-table.tsx'
import classes from './databases.module.css'

const ResultMap = lazy(async () => ({
  default: (await import('../dataset/query/result/result-map.tsx')).ResultMap,
}))

const shownRows = 1_000
const countMs = 10_000

interface TablePreviewProps {
  databaseId: string
  table: DatabaseTable
  onClose(): void
}

export function TablePreview({ databaseId, table, onClose }: TablePreviewProps): ReactElement {
  return (
    <Dialog title={table.source} kind="wide" isOpen onClose={onClose}>
      <div className={layout.section}>
        <RowCount databaseId={databaseId} table={table} />
        <FirstRows databaseId={databaseId} table={table} />
      </div>
    </Dialog>
  )
}

type Looked = Pick<TablePreviewProps, 'databaseId' | 'table'>

function RowCount({ databaseId, table: { source, rows } }: Looked): ReactElement {
  const client = useClient()
  const sql = `SELECT count(*) AS rows FROM ${source}`
  const { data, error } = useQuery({
    queryKey: queryKeys.databases.one(databaseId, 'columns', source, 'count'),
    queryFn: ({ signal }) => client.databases.query(databaseId, { sql }, { timeout: countMs, signal }),
    retry: false,
  })
  const counted = Number(data?.rows?.[0]?.rows ?? Number.NaN)
  if (Number.isFinite(counted)) return <p>{counted === 1 ? '1 row' : `${formatNumber(counted)} rows`}</p>
  if (rows !== null) return <p>About {formatNumber(rows)} rows</p>
  return <p>{error ? 'The rows could not be counted in time.' : 'Counting the rows …'}</p>
}

function FirstRows({ databaseId, table: { source } }: Looked): ReactElement {
  const client = useClient()
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.databases.one(databaseId, 'columns', source, 'rows'),
    queryFn: ({ signal }) =>
      client.databases.query(databaseId, { sql: `SELECT * FROM ${source}`, limit: shownRows }, { signal }),
  })
  const rows = useMemo(() => data?.rows ?? [], [data])
  const columns = useMemo(() => columnsOf(rows, data?.attributes ?? []), [rows, data])
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={240} />
  if (rows.length === 0) return <Note>The table is empty.</Note>
  const geometry = columns.find(({ type }) => type === 'geometry')?.name
  return (
    <>
      {geometry !== undefined && (
        <div className={classes.previewMap}>
          <Suspense fallback={<Skeleton height="100%" />}>
            <ResultMap rows={rows} column={geometry} name={source} />
          </Suspense>
        </div>
      )}
      {geometry !== undefined && <p className={classes.quiet}>{extentOf(rows, geometry)}</p>}
      <div className={classes.previewRows}>
        <ResultTable rows={rows} columns={columns} />
      </div>
    </>
  )
}

function extentOf(rows: Parameters<typeof featuresOf>[0], geometry: string): string {
  const bounds = boundsOf(featuresOf(rows, geometry))
  if (!bounds) return 'None of these rows has a place.'
  const [west, south, east, north] = bounds.map((value) => value.toFixed(3))
  const which = rows.length < shownRows ? 'The rows' : `The first ${formatNumber(shownRows)} rows`
  return `${which} lie between ${west}, ${south} and ${east}, ${north}.`
}
