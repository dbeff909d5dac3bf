/**
 * Page state that survives navigation, such as unsaved text. It lives as long as the session's query cache. Changes notify
 * synchronously, unlike those of the query cache, because an editor must never get back an older text.
 */
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useCallback, useSyncExternalStore } from 'react'

interface Store {
  values: Map<string, unknown>
  listeners: Set<() => void>
}
const stores = new WeakMap<QueryClient, Store>()

function storeOf(cache: QueryClient): Store {
  const store = stores.get(cache) ?? { values: new Map(), listeners: new Set() }
  stores.set(cache, store)
  return store
}

/** The named state, and a function that merges changes into it. */
export function useSessionState<State extends object>(
  name: string,
  begin: State,
): [State, (change: Partial<State>) => void] {
  const { values, listeners } = storeOf(useQueryClient())
  const subscribe = useCallback(
    (listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    [listeners],
  )
  const state = useSyncExternalStore(subscribe, () => (values.get(name) as State | undefined) ?? begin)
  const change = useCallback(
    (changed: Partial<State>) => {
      values.set(name, { ...((values.get(name) as State | undefined) ?? begin), ...changed })
      for (const listener of listeners) listener()
    },
    [values, listeners, name, begin],
  )
  return [state, change]
}
