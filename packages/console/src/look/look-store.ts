/** The looks that the user has chosen in place of the suggested ones, until the page is left. Kept by client, as sessions are. */
import type { Client } from '@graticule/client'
import { useSyncExternalStore } from 'react'
import type { DatasetLook } from './telling-attribute.ts'

const looksByClient = new WeakMap<Client, Map<string, DatasetLook>>()
const listeners = new Set<() => void>()

export const chosenLook = (client: Client, datasetId: string): DatasetLook | undefined =>
  looksByClient.get(client)?.get(datasetId)

/** Undefined goes back to the suggested look. */
export function chooseLook(client: Client, datasetId: string, look: DatasetLook | undefined): void {
  const looks = looksByClient.get(client) ?? new Map<string, DatasetLook>()
  looksByClient.set(client, looks)
  if (look) looks.set(datasetId, look)
  else looks.delete(datasetId)
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useChosenLook = (client: Client, datasetId: string): DatasetLook | undefined =>
  useSyncExternalStore(subscribe, () => chosenLook(client, datasetId))
