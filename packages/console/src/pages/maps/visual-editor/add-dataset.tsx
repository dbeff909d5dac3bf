/** Adds a dataset as the topmost layer. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { Dialog } from '../../../components/dialog.tsx'
import { ErrorNote } from '../../../components/error-note.tsx'
import { useClient } from '../../../session/session.tsx'
import { useEditor } from '../editor-context.tsx'
import { newLayer } from '../new-map.ts'
import { type DatasetSummary, findTilesId, tileDescriptionQuery } from '../styles-query.ts'
import { DatasetChoice } from './dataset-choice.tsx'

interface AddDatasetProps {
  isOpen: boolean
  onClose(): void
  onAdded(id: string): void
}

export function AddDataset({ isOpen, onClose, onAdded }: AddDatasetProps): ReactElement {
  const { recipes, theme, changeRecipes, map } = useEditor()
  const client = useClient()
  const queries = useQueryClient()
  const add = useMutation({
    async mutationFn(dataset: DatasetSummary) {
      const tilesId = await findTilesId(client, dataset.id)
      const layer = newLayer(recipes, dataset, tilesId, theme)
      changeRecipes((now) => ({ ...now, layers: [layer, ...now.layers] }))
      onAdded(layer.id)
      onClose()
      const { bounds } = await queries.ensureQueryData(tileDescriptionQuery(client, tilesId))
      if (bounds && recipes.layers.length === 0) map.current?.fit(bounds, { padding: 32, maxDuration: 800 })
    },
  })
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Add a dataset">
      {add.error && <ErrorNote error={add.error} />}
      <DatasetChoice onChoose={add.mutate} />
    </Dialog>
  )
}
