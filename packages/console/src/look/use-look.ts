/** The look of a dataset: suggested by its statistics, unless the user has chosen another. */
import { ApiError, type AttributeStatistics, type Client, type Dataset } from '@graticule/client'
import { geometryOf } from '@graticule/map/recipe'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { queryKeys } from '../query-keys.ts'
import { useClient } from '../session/session.tsx'
import { chooseLook, useChosenLook } from './look-store.ts'
import { type DatasetLook, plainLook, promisingAttributes, suggestLook } from './telling-attribute.ts'

type LookedDataset = Pick<Dataset, 'id' | 'attributes'> & Partial<Pick<Dataset, 'rowEstimate'>>

/** Statistics of a large table take long, and other queries of the same application wait for them. */
const attributeCounts = { usual: 8, large: 4 }
const largeRows = 200_000
const timeoutMs = 10_000

/** One attribute after the other, so that a map that is opened leaves room for other queries. */
export const lookQuery = (client: Client, { id, attributes, rowEstimate = null }: LookedDataset) =>
  queryOptions({
    queryKey: queryKeys.datasets.one(id, 'look'),
    staleTime: Number.POSITIVE_INFINITY,
    async queryFn({ signal }): Promise<DatasetLook> {
      const most = (rowEstimate ?? 0) > largeRows ? attributeCounts.large : attributeCounts.usual
      const statistics: AttributeStatistics[] = []
      for (const { name } of promisingAttributes(attributes, most)) {
        const found = await client.datasets
          .statistics(id, name, { timeout: timeoutMs, signal })
          .catch((error: unknown) => {
            // A map of one colour is better than none.
            if (error instanceof ApiError && error.status > 0) return null
            throw error
          })
        if (found) statistics.push(found)
      }
      const rows = statistics[0]?.rows.count ?? rowEstimate
      return suggestLook({ shape: geometryOf({ attributes }) ?? 'mixed', rows, statistics })
    },
  })

export interface LookAccess {
  look: DatasetLook
  /** The user has chosen another than the suggested one. */
  isChosen: boolean
  /** Undefined goes back to the suggested look. */
  choose(look: DatasetLook | undefined): void
}

export function useLook(dataset: LookedDataset): LookAccess {
  const client = useClient()
  const chosen = useChosenLook(client, dataset.id)
  const { data: suggested = plainLook } = useQuery(lookQuery(client, dataset))
  return {
    look: chosen ?? suggested,
    isChosen: chosen !== undefined,
    choose: (look) => chooseLook(client, dataset.id, look),
  }
}
