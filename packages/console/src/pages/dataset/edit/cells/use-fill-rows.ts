/** Gives all selected rows the same value in a column. */
import { useToast } from '../../../../components/toast.tsx'
import { useClient } from '../../../../session/session.tsx'
import { type DatasetAttribute, keyOf } from '../../dataset.ts'
import { rowId } from '../../table/selection.ts'
import type { TableState } from '../../table/use-table.ts'
import { isSameValue, type JsonValue } from './inline-cell.ts'
import { readCells } from './send-changes.ts'
import type { ChangeCells } from './use-change-cells.ts'

export type FillRows = (attribute: DatasetAttribute, value: JsonValue) => void

export function useFillRows({ dataset, selection }: TableState, { change }: ChangeCells): FillRows {
  const client = useClient()
  const toast = useToast()
  const key = keyOf(dataset)
  // Selected rows need not be loaded: the values that they have are read.
  const fill = async ({ name }: DatasetAttribute, after: JsonValue) => {
    const rows = await readCells(client, dataset, selection.ids, [name])
    const changes = rows.map((row) => ({ id: rowId(row, key) ?? '', column: name, before: row[name] ?? null, after }))
    change(changes.filter(({ before }) => !isSameValue(before, after)))
  }
  return (attribute, value) =>
    void fill(attribute, value).catch((error) => toast.fail('The selected rows could not be read', error))
}
