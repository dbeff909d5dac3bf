/** The details of a row: next to the table, or a sheet on phones. */
import type { Dataset } from '@graticule/client'
import type { ReactElement } from 'react'
import { Button, IconButton } from '../../../components/button.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { geometryOf, keyOf } from '../dataset.ts'
import { OpenRowActions } from '../edit/row-editing.tsx'
import { Fields, RowDetails } from './row-details.tsx'
import { type Row, rowId } from './selection.ts'
import classes from './table.module.css'
import type { SelectionAccess } from './use-selection.ts'

export interface OpenRow {
  /** Null: the row selected last. */
  index: number | null
  row: Row | undefined
}

export interface DetailsProps {
  dataset: Dataset
  open: OpenRow
  selection: SelectionAccess
  onFly(index: number | null): void
  onClose(): void
}

function useOpenRow({ dataset, open, selection }: DetailsProps) {
  const id = open.index === null ? selection.ids.at(-1) : rowId(open.row, keyOf(dataset))
  const title = id === undefined ? (open.index === null ? 'No row' : `Row ${open.index + 1}`) : `Row ${id}`
  const body =
    id === undefined ? (
      <Fields attributes={dataset.attributes.filter(({ type }) => type !== 'geometry')} row={open.row} />
    ) : (
      <RowDetails key={id} dataset={dataset} id={id} tableRow={open.row} />
    )
  return { title, body }
}

export function DetailsPane(props: DetailsProps): ReactElement {
  const { title, body } = useOpenRow(props)
  return (
    <section aria-label={title} className={classes.details}>
      <div className={classes.detailsHead}>
        <h2>{title}</h2>
        <span>
          <FlyButton {...props} />
          <OpenRowActions open={props.open} />
          <IconButton icon="close" label="Close the details" onClick={props.onClose} />
        </span>
      </div>
      {body}
    </section>
  )
}

export function DetailsSheet(props: DetailsProps): ReactElement {
  const { title, body } = useOpenRow(props)
  return (
    <Dialog isOpen onClose={props.onClose} title={title} kind="sheet" actions={<SheetActions {...props} />}>
      {body}
    </Dialog>
  )
}

function SheetActions(props: DetailsProps): ReactElement {
  return (
    <>
      <OpenRowActions open={props.open} />
      <FlyButton {...props} />
    </>
  )
}

function FlyButton({ dataset, open, selection, onFly }: DetailsProps): ReactElement | null {
  if (!geometryOf(dataset) || selection.refusal) return null
  return (
    <Button variant="ghost" icon="locate" onClick={() => onFly(open.index)}>
      Fly to
    </Button>
  )
}
