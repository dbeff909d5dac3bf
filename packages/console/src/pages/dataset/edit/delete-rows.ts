/** Deletes rows by their keys, all or none, after a question that names how many. */
import type { Dataset } from '@graticule/client'
import { useConfirm } from '../../../components/confirm.tsx'
import { useToast } from '../../../components/toast.tsx'
import { formatNumber } from '../../../format.ts'
import { useClient } from '../../../session/session.tsx'
import { keyOf } from '../dataset.ts'
import { type RowId, whereIds } from '../table/selection.ts'

const countOf = (ids: readonly RowId[]): string => (ids.length === 1 ? '1 row' : `${formatNumber(ids.length)} rows`)

export function useDeleteRows(dataset: Dataset, onDeleted: () => void): (ids: readonly RowId[]) => void {
  const client = useClient()
  const ask = useConfirm()
  const toast = useToast()
  return (ids) => {
    if (ids.length === 0) return
    ask({
      title: ids.length === 1 ? `Delete row ${ids[0]}?` : `Delete ${countOf(ids)}?`,
      body: `${ids.length === 1 ? 'It is' : `${countOf(ids)} are`} deleted from “${dataset.name}”${keysOf(ids)}. This cannot be undone.`,
      action: `Delete ${countOf(ids)}`,
      async onConfirm() {
        await client.datasets.deleteRows(dataset.id, { filter: whereIds(ids, keyOf(dataset)), expect: ids.length })
        toast.say({ title: `${countOf(ids)} deleted` })
        onDeleted()
      },
    })
  }
}

const mostNamed = 8

/** Which ones, so that a selection that scrolled out of sight is not forgotten. */
function keysOf(ids: readonly RowId[]): string {
  if (ids.length === 1) return ''
  return `: ${ids.slice(0, mostNamed).join(', ')}${ids.length > mostNamed ? ' …' : ''}`
}
