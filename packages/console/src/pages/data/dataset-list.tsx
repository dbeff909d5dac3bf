/** The rows of the list; on phones cards of two lines. */
import type { ReactElement } from 'react'
import { Button } from '../../components/button.tsx'
import { Skeleton } from '../../components/note.tsx'
import { layout } from '../../components/page.tsx'
import { SortHeader } from '../../components/records/sort-header.tsx'
import { formatNumber } from '../../format.ts'
import classes from './data.module.css'
import { type DataSearch, type DataSortField, defaultSort } from './data-search.ts'
import { DatasetRow } from './dataset-row.tsx'
import type { ListedDataset, TilesOfDataset } from './use-datasets.ts'

interface DatasetListProps {
  rows: readonly ListedDataset[]
  tiles: ReadonlyMap<string, TilesOfDataset>
  total: number
  sort: DataSearch['sort']
  /** Whether these are the rows of the previous search, shown while the new ones load. */
  isOld: boolean
  /** Ids of the selected datasets. */
  picked: ReadonlySet<string>
  onPick(picked: ReadonlySet<string>): void
  onSort(sort: DataSearch['sort']): void
  onTag(tag: string): void
  /** Absent when all are shown. */
  onMore?: () => void
  isLoadingMore?: boolean
}

export function DatasetList(props: DatasetListProps): ReactElement {
  const { rows, tiles, total, sort = defaultSort, isOld, picked, onPick, onSort, onTag, onMore, isLoadingMore } = props
  const header = (field: DataSortField, label: string, isNumber = false) => (
    <SortHeader
      field={field}
      label={label}
      isNumber={isNumber}
      sort={sort}
      onSort={(next) => onSort(next === defaultSort ? undefined : next)}
    />
  )
  const isTwice = (name: string) => rows.filter((one) => one.name === name).length > 1
  const toggle = (id: string) => onPick(picked.has(id) ? picked.difference(new Set([id])) : new Set([...picked, id]))
  const areAll = rows.every(({ id }) => picked.has(id))
  return (
    <>
      <table className={`${layout.list} ${classes.list}`} data-old={isOld} aria-busy={isOld}>
        <thead>
          <tr>
            <th scope="col" className={classes.pickCell}>
              <input
                type="checkbox"
                aria-label="Select all that are shown"
                checked={areAll}
                onChange={() => onPick(areAll ? new Set() : new Set(rows.map(({ id }) => id)))}
              />
            </th>
            {header('name', 'Name')}
            {header('type', 'Type')}
            {header('rowEstimate', 'Rows, about', true)}
            {header('bytes', 'Size', true)}
            <th scope="col">Extent</th>
            {header('updatedAt', 'Changed', true)}
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((dataset) => (
            <DatasetRow
              key={dataset.id}
              dataset={dataset}
              tiles={tiles.get(dataset.id)}
              isTwin={isTwice(dataset.name)}
              isPicked={picked.has(dataset.id)}
              onPick={() => toggle(dataset.id)}
              onTag={onTag}
            />
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

export function ListSkeleton(): ReactElement {
  return (
    <div className={`${layout.padded} ${layout.section}`}>
      {Array.from({ length: 8 }, (_, index) => (
        <Skeleton key={index} height={28} />
      ))}
    </div>
  )
}
