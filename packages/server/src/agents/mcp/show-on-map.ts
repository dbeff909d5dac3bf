import Type from 'typebox'
import { bbox, datasetId, loadDataset, selection } from './dataset.ts'
import { tool } from './tool.ts'

const view = {
  bbox: Type.Optional(bbox),
  datasetId: Type.Optional(datasetId),
  where: selection.where,
  featureIds: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 1_000 })),
}

export const showOnMap = tool({
  name: 'show_on_map',
  title: 'Show on the map',
  description: 'Makes a view for the map of the user: put the result into the artifacts of the answer.',
  input: Type.Object(view, { additionalProperties: false }),
  output: Type.Object({ type: Type.Literal('mapView'), ...view }),
  async run(call, shown) {
    if (shown.datasetId !== undefined) await loadDataset(call, shown.datasetId)
    return { type: 'mapView' as const, ...shown }
  },
})
