/** Notes over the grid: an error, or that there are no rows. */
import type { Dataset } from '@graticule/client'
import type { ReactElement } from 'react'
import { Button } from '../../../components/button.tsx'
import { ErrorNote } from '../../../components/error-note.tsx'
import { Empty } from '../../../components/note.tsx'
import { formatRows } from '../../../format.ts'
import { useRowEstimate } from '../dataset.ts'
import { AddRowButton, FirstRowHint } from '../edit/row-editing.tsx'
import { useFilterParts } from './filter/filter-parts.ts'
import type { Rows } from './rows/use-rows.ts'
import classes from './table.module.css'

interface TableNotesProps {
  rows: Rows
  dataset: Dataset
}

export function TableNotes({ rows: { pages, state }, dataset }: TableNotesProps): ReactElement | null {
  const { where, replace } = useFilterParts()
  const all = useRowEstimate(dataset)
  if (state.error)
    return (
      <div className={classes.over}>
        <ErrorNote error={state.error} onRetry={() => pages.retry()} />
      </div>
    )
  if (!state.isBegun || state.total?.rows !== 0 || !state.total.isExact) return null
  return (
    <div className={classes.over}>
      {where ? (
        <Empty
          title={`0 of ${all !== null ? formatRows(all) : 'all rows'} match`}
          action={<Button onClick={() => replace(undefined)}>Clear filters</Button>}
        />
      ) : (
        <Empty title="No rows yet" action={<AddRowButton variant="primary" />}>
          <FirstRowHint datasetId={dataset.id} />
        </Empty>
      )}
    </div>
  )
}
