/** The ids and names of all applications, for master keys. */
import { useQuery } from '@tanstack/react-query'
import { queryKeys } from '../query-keys.ts'
import { useSession } from './session.tsx'

export function useApplicationNames(): readonly { id: string; name: string }[] {
  const { access, unscoped } = useSession()
  const { data = [] } = useQuery({
    queryKey: queryKeys.applications.part('names'),
    queryFn: ({ signal }) =>
      unscoped.applications.list({ fields: ['id', 'name'], sort: ['name'], limit: 1000, signal }),
    enabled: access.type === 'master',
  })
  return data
}
