/** A hook for the kinds of database: what each can do, and the fields of its form. Nothing here knows one of them by name. */
import type { DatabaseDriver } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import { useClient, useMay } from '../../session/session.tsx'

interface Drivers {
  /** Those that the server has, external ones that can be written first; undefined while they are not known. */
  drivers: readonly DatabaseDriver[] | undefined
  isLoading: boolean
  error: unknown
}

export function useDrivers(): Drivers {
  const client = useClient()
  const mayList = useMay()('databases', 'execute')
  const { data, error, isLoading } = useQuery({
    queryKey: ['databases', 'drivers', 'details'],
    queryFn: ({ signal }) => client.databases.driverDetails({ signal }),
    enabled: mayList,
    staleTime: Number.POSITIVE_INFINITY,
    select: inOrder,
  })
  return { drivers: data, isLoading, error }
}

/** That of one database; undefined while the drivers are not known, and for one that the server does not have. */
export function useDriver(type: string): DatabaseDriver | undefined {
  return useDrivers().drivers?.find(({ name }) => name === type)
}

const rankOf = ({ isPlatform, isWritable }: DatabaseDriver): number => (isPlatform ? 2 : isWritable ? 0 : 1)

const inOrder = (drivers: readonly DatabaseDriver[]): DatabaseDriver[] =>
  drivers.toSorted((a, b) => rankOf(a) - rankOf(b) || a.title.localeCompare(b.title))
