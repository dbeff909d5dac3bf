/** The declared roles of an application, and the names that its users have. */
import type { Role } from '@graticule/client'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { queryKeys } from '../../../query-keys.ts'
import { useClient, useMay, useSession } from '../../../session/session.tsx'
import { type RoleUse, roleUseOf } from './role-use.ts'

const most = 10_000

/** Of no application there are none: a name means something else in each. */
function useMayRead(): boolean {
  const { access } = useSession()
  return useMay()('users', 'read') && access.application !== null
}

export function useRoles(): UseQueryResult<Role[]> {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.roles.list,
    queryFn: ({ signal }) => client.auth.roles.list({ sort: ['name'], limit: most, signal }),
    enabled: useMayRead(),
  })
}

export function useRoleUse(): UseQueryResult<RoleUse> {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.users.part('roles'),
    queryFn: async ({ signal }) => {
      const users = await client.auth.users.list({ fields: ['roles'], limit: most, signal })
      return roleUseOf(users, users.length === most)
    },
    enabled: useMayRead(),
  })
}
