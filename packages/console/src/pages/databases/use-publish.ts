/** A hook for publishing tables: progress, the outcome of each table, and cancellation. */
import type { DatabaseTable } from '@graticule/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useClient } from '../../session/session.tsx'
import { publishTables, type TableOutcome } from './publish-tables.ts'

interface PublishRequest {
  tables: readonly DatabaseTable[]
  withTiles: boolean
}

export function usePublish(databaseId: string, onDone: () => void) {
  const client = useClient()
  const cache = useQueryClient()
  const controller = useRef(new AbortController())
  const [outcomes, setOutcomes] = useState<readonly TableOutcome[]>([])
  const { mutate, isPending, variables, error } = useMutation({
    async mutationFn(request: PublishRequest) {
      controller.current = new AbortController()
      setOutcomes([])
      const { signal } = controller.current
      return publishTables(client, { ...request, databaseId, signal, onProgress: setOutcomes })
    },
    onSuccess: onDone,
    onSettled: () => {
      for (const resource of ['databases', 'datasets', 'tilesources']) {
        void cache.invalidateQueries({ queryKey: [resource] })
      }
    },
  })
  return {
    publish: mutate,
    isPending,
    outcomes,
    total: variables?.tables.length ?? 0,
    stop: () => controller.current.abort(),
    /** A cancellation is not an error. */
    error: controller.current.signal.aborted ? null : error,
  }
}
