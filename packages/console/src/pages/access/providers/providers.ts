/** The OpenID Connect providers of an application, and the addresses that belong to them. */
import type { OidcProvider } from '@graticule/client'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { serverAddress } from '../../../address.ts'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useMay, useSession } from '../../../session/session.tsx'

const most = 10_000

export function useProviders(): UseQueryResult<OidcProvider[]> {
  const client = useClient()
  const { access } = useSession()
  const mayRead = useMay()('users', 'read')
  return useQuery({
    queryKey: queryKeys.oidcproviders.list,
    queryFn: ({ signal }) => client.auth.providers.list({ sort: ['name'], limit: most, signal }),
    enabled: mayRead && access.application !== null,
  })
}

/** What has to be registered at the provider. */
export const redirectAddress = (id: string): string => serverAddress(`api/v1/auth/oidc/${id}/callback`)
