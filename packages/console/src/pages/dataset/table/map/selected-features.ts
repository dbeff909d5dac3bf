/** Fetches the geometry of the selected rows, for the map and the details. */
import type { Dataset, FeatureCollection } from '@graticule/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { queryKeys } from '../../../../query-keys.ts'
import { useClient } from '../../../../session/session.tsx'
import { geometryOf, keyOf } from '../../dataset.ts'
import { type RowId, whereIds } from '../selection.ts'

export interface SelectedFeatures {
  features: FeatureCollection
  /** Whether they belong to the current selection, not to a previous one. */
  areCurrent: boolean
}

const none: FeatureCollection = { type: 'FeatureCollection', features: [] }
const nothing: SelectedFeatures = { features: none, areCurrent: true }

export function useSelectedFeatures(dataset: Dataset, ids: readonly RowId[]): SelectedFeatures {
  const client = useClient()
  const key = keyOf(dataset)
  const geometry = geometryOf(dataset)
  const { data, isPlaceholderData } = useQuery({
    queryKey: queryKeys.datasets.one(dataset.id, 'features', ids),
    queryFn: ({ signal }) =>
      client.datasets.query(
        dataset.id,
        {
          attributes: [...key.map(({ name }) => name), geometry?.name ?? ''],
          where: whereIds(ids, key),
          limit: ids.length,
        },
        { format: 'geojson', signal },
      ),
    enabled: geometry !== undefined && key.length > 0 && ids.length > 0,
    placeholderData: keepPreviousData,
  })
  if (ids.length === 0) return nothing
  return { features: data ?? none, areCurrent: data !== undefined && !isPlaceholderData }
}
