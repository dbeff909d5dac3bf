/** The rows of the list; on phones cards of two lines. */
import type { ReactElement } from 'react'
import { Button } from '../../components/button.tsx'
import { Icon } from '../../components/icon.tsx'
import { Skeleton } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import { formatNumber } from '../../format.ts'
import classes from './data.module.css'
import { type DataSearch, defaultSort, type SortField } from './data-search.ts'
import { DatasetRow } from './dataset-row.tsx'
import type { ListedDataset, TilesOfDataset } from './use-datasets.ts'

interface DatasetListProps {
  rows: readonly ListedDataset[]
  tiles: ReadonlyMap<string, TilesOfDataset>
  total: number
  sort: DataSearch['sort']
  /** Whether these are the rows of the previous search, shown while the new ones load. */
  isOld: boolean
  onSort(sort: DataSearch['sort']): void
  onTag(tag: string): void
  /** Absent when all are shown. */
  onMore?: () => void
  isLoadingMore?: boolean
}

export function DatasetList(props: DatasetListProps): ReactElement {
  const { rows, tiles, total, isOld, onTag, onMore, isLoadingMore } = props
  return (
    <>
      <table className={`${layout.list} ${classes.list}`} data-old={isOld} aria-busy={isOld}>
        <thead>
          <tr>
            <SortHeader {...props} field="name" label="Name" />
            <SortHeader {...props} field="type" label="Type" />
            <SortHeader {...props} field="rowEstimate" label="Rows, about" isNumber />
            <SortHeader {...props} field="bytes" label="Size" isNumber />
            <th scope="col">Extent</th>
            <SortHeader {...props} field="updatedAt" label="Changed" isNumber />
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((dataset) => (
            <DatasetRow key={dataset.id} dataset={dataset} tiles={tiles.get(dataset.id)} onTag={onTag} />
          ))}
        </tbody>
      </table>
      {onMore && (
        <div className={classes.more}>
          <span>
            {formatNumber(rows.length)} of {formatNumber(total)}
          </span>
          <Button onClick={onMore} disabled={isLoadingMore}>
            Show more
          </Button>
        </div>
      )}
    </>
  )
}

interface SortHeaderProps extends Pick<DatasetListProps, 'sort' | 'onSort'> {
  field: SortField
  label: string
  /** Numbers and dates are sorted in descending order first. */
  isNumber?: boolean
}

function SortHeader({ field, label, isNumber = false, sort = defaultSort, onSort }: SortHeaderProps): ReactElement {
  const isUp = sort === field
  const isDown = sort === `-${field}`
  const next = (isNumber ? !isDown : isUp) ? (`-${field}` as const) : field
  return (
    <th
      scope="col"
      data-align={isNumber ? 'end' : undefined}
      aria-sort={isUp ? 'ascending' : isDown ? 'descending' : 'none'}
    >
      <button type="button" className={classes.sort} onClick={() => onSort(next === defaultSort ? undefined : next)}>
        {label}
        {(isUp || isDown) && <Icon name={isUp ? 'sortUp' : 'sortDown'} size={14} />}
      </button>
    </th>
  )
}

export function ListSkeleton(): ReactElement {
  return (
    <div className={`${layout.padded} ${layout.section}`}>
      {Array.from({ length: 8 }, (_, index) => (
        <Skeleton key={index} height={28} />
      ))}
    </div>
  )
}
