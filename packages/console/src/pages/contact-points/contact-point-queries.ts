/** The queries of the contact points page. */
import type { ContactPoint, Delivery } from '@graticule/client'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { queryKeys } from '../../query-keys.ts'
import { useClient } from '../../session/session.tsx'

const pendingMs = 1000
const quietMs = 10_000
const mostPoints = 1000

export function useContactPoints(): UseQueryResult<ContactPoint[]> {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.contactpoints.listWith({ sort: 'name' }),
    queryFn: ({ signal }) => client.contactPoints.list({ sort: ['name'], limit: mostPoints, signal }),
  })
}

export function useDrivers(): UseQueryResult<string[]> {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.contactpoints.part('drivers'),
    queryFn: ({ signal }) => client.contactPoints.drivers({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** Refetched every second while a delivery is pending. */
export function useDeliveries(id: string): UseQueryResult<Delivery[]> {
  const client = useClient()
  return useQuery({
    queryKey: queryKeys.contactpoints.one(id, 'deliveries'),
    queryFn: ({ signal }) => client.contactPoints.deliveries(id, { limit: 50, signal }),
    refetchInterval: ({ state }) => (state.data?.some(({ status }) => status === 'pending') ? pendingMs : quietMs),
  })
}
