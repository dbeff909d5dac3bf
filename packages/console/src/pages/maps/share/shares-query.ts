/** The keys that were made to share a map. */
import type { Client } from '@graticule/client'
import { queryOptions } from '@tanstack/react-query'
import { queryKeys } from '../../../query-keys.ts'
import { isShareOf } from './share-link.ts'

export const sharesQuery = (client: Client, styleId: string) =>
  queryOptions({
    queryKey: queryKeys.apikeys.listWith({ share: styleId }),
    queryFn: async ({ signal }) =>
      (await client.apiKeys.list({ sort: ['-createdAt'], signal })).filter((key) => isShareOf(key, styleId)),
  })
