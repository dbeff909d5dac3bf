/** Changes one column in all selected rows. */
import type { Dataset } from '@graticule/client'
import { type ReactElement, useState } from 'react'
import { Select } from '../../../../components/field.tsx'
import { FormDialog } from '../../../../components/form-dialog.tsx'
import { formatNumber } from '../../../../format.ts'
import { type CellDraft, emptied } from '../cell-draft.ts'
import { CellField } from '../row-fields.tsx'
import { isInlineColumn, readInline } from './inline-cell.ts'
import type { CellEditing } from './use-cell-editing.ts'

export interface ChangeRowsDialogProps {
  dataset: Dataset
  count: number
  cells: CellEditing
  onClose(): void
}

export function ChangeRowsDialog({ dataset, count, cells, onClose }: ChangeRowsDialogProps): ReactElement | null {
  const columns = dataset.attributes.filter(isInlineColumn)
  const [name, setName] = useState(columns[0]?.name ?? '')
  const [draft, setDraft] = useState<CellDraft | null>(null)
  const attribute = columns.find((one) => one.name === name)
  if (!attribute) return null
  const read = readInline(attribute, draft ?? emptied(attribute, false))
  return (
    <FormDialog
      title={`Change ${formatNumber(count)} rows`}
      labels={[`Change ${formatNumber(count)} rows`, 'Changing …']}
      isPending={false}
      missing={'error' in read ? read.error : undefined}
      isCheckedHere
      onClose={onClose}
      onSubmit={() => {
        if ('error' in read) return
        cells.fill(attribute, read.value)
        onClose()
      }}
    >
      <Select
        label="Column"
        value={name}
        options={columns.map((one) => one.name)}
        onChange={(next) => {
          setName(next)
          setDraft(null)
        }}
      />
      <CellField
        key={name}
        attribute={attribute}
        cell={draft ?? emptied(attribute, false)}
        isNew={false}
        error={draft && 'error' in read ? read.error : undefined}
        onChange={setDraft}
      />
    </FormDialog>
  )
}
