/** What all applications use, for master keys: a table to sort, and each one's limits. */
import type { Usage } from '@graticule/client'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactElement, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Segmented } from '../../components/field.tsx'
import { Skeleton } from '../../components/note.tsx'
import { layout, Page } from '../../components/page.tsx'
import { type Sort, SortHeader } from '../../components/records/sort-header.tsx'
import { formatBytes, formatNumber } from '../../format.ts'
import { LimitsDialog } from './limits-dialog.tsx'
import { Meter } from './meter.tsx'
import classes from './usage.module.css'
import { useAllUsage } from './usage-query.ts'
import { defaultSort, type UsageSearch, type UsageSortField } from './usage-search.ts'

const route = getRouteApi('/shell/usage/{-$applicationId}')

type During = 'today' | 'month'

interface Column {
  field: UsageSortField
  label: string
  of(usage: Usage, during: During): number
  format(value: number): string
}

const columns: readonly Column[] = [
  { field: 'requests', label: 'Requests', of: (usage, during) => usage[during].requests, format: formatNumber },
  { field: 'refused', label: 'Over a limit', of: (usage, during) => usage[during].refused, format: formatNumber },
  { field: 'bytesOut', label: 'Data sent', of: (usage, during) => usage[during].bytesOut, format: formatBytes },
  {
    field: 'tiles',
    label: 'Tiles',
    format: formatNumber,
    of: (usage, during) => usage[during].tilesCached + usage[during].tilesMade,
  },
  { field: 'queries', label: 'Queries', of: (usage, during) => usage[during].queries, format: formatNumber },
]

export function AllUsage(): ReactElement {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { rows, total, error, refetch } = useAllUsage()
  const change = (changes: UsageSearch) => void navigate({ search: (old) => ({ ...old, ...changes }), replace: true })
  return (
    <Page title="Usage" facts={rows && countOf(rows.length, total)}>
      <div className={layout.section}>
        <Segmented
          label="Time"
          value={search.during ?? 'month'}
          options={[
            { value: 'month', label: 'This month' },
            { value: 'today', label: 'Today' },
          ]}
          onChange={(during) => change({ during: during === 'today' ? 'today' : undefined })}
        />
        {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
        {!rows && !error && <Skeleton height={240} />}
        {rows && <Applications rows={rows} search={search} onSort={(sort) => change({ sort })} />}
      </div>
    </Page>
  )
}

function countOf(read: number, total: number): string {
  if (read < total) return `Reading ${formatNumber(read)} of ${formatNumber(total)} applications …`
  return `${formatNumber(total)} ${total === 1 ? 'application' : 'applications'} · a few seconds behind`
}

interface ApplicationsProps {
  rows: readonly Usage[]
  search: UsageSearch
  onSort(sort: Sort<UsageSortField>): void
}

function Applications({ rows, search, onSort }: ApplicationsProps): ReactElement {
  const { sort = defaultSort, during = 'month' } = search
  const [edited, setEdited] = useState<Usage | null>(null)
  const header = (field: UsageSortField, label: string, isNumber = true) => (
    <SortHeader key={field} field={field} label={label} isNumber={isNumber} sort={sort} onSort={onSort} />
  )
  return (
    <>
      <table className={`${layout.list} ${classes.applications}`}>
        <thead>
          <tr>
            {header('name', 'Application', false)}
            {columns.map(({ field, label }) => header(field, label))}
            {header('storage', 'Storage')}
            <th scope="col">
              <span className="visually-hidden">Limits</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.toSorted(orderBy(sort, during)).map((usage) => (
            <Row key={usage.applicationId} usage={usage} during={during} onEdit={() => setEdited(usage)} />
          ))}
        </tbody>
      </table>
      {edited && <LimitsDialog usage={edited} onClose={() => setEdited(null)} />}
    </>
  )
}

/** Equal ones are in the order of their names. */
function orderBy(sort: Sort<UsageSortField>, during: During): (one: Usage, other: Usage) => number {
  const field = sort.replace('-', '') as UsageSortField
  const sign = sort.startsWith('-') ? -1 : 1
  const byName = (one: Usage, other: Usage) => one.name.localeCompare(other.name)
  if (field === 'name') return (one, other) => sign * byName(one, other)
  const of = columns.find((column) => column.field === field)?.of ?? (({ storage }: Usage) => storage.bytes)
  return (one, other) => sign * (of(one, during) - of(other, during)) || byName(one, other)
}

interface RowProps {
  usage: Usage
  during: During
  onEdit(): void
}

function Row({ usage, during, onEdit }: RowProps): ReactElement {
  const { applicationId, name } = usage
  return (
    <tr>
      <th scope="row" className={classes.name}>
        <Link to="/usage/{-$applicationId}" params={{ applicationId }}>
          {name}
        </Link>
      </th>
      {columns.map(({ field, label, of, format }) => (
        <td key={field} data-align="end" data-label={label}>
          {format(of(usage, during))}
        </td>
      ))}
      <td data-align="end" data-label="Storage">
        <Storage usage={usage} />
      </td>
      <td className={classes.action}>
        <Button aria-label={`Limits of ${name}`} onClick={onEdit}>
          Limits
        </Button>
      </td>
    </tr>
  )
}

interface StorageProps {
  usage: Usage
}

function Storage({ usage: { name, storage, limits } }: StorageProps): ReactElement {
  const { storageBytes: limit } = limits
  if (limit === null) return <>{formatBytes(storage.bytes)}</>
  const text = `${formatBytes(storage.bytes)} of ${formatBytes(limit)}`
  return (
    <>
      {text}
      <Meter label={`Storage of ${name}`} text={text} value={storage.bytes} limit={limit} />
    </>
  )
}
