/** Follows the changes of a dataset while a component is mounted. */
import type { Dataset, DatasetEvent } from '@graticule/client'
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react'
import { useClient } from '../session/session.tsx'
import { changeStreamOf, type LiveState } from './change-stream.ts'

/** Known without asking, which would leave an error in the browser's console. */
const noTable: LiveState = { kind: 'refused', reason: 'Only datasets of type table can be followed.' }

export function useChanges({ id, type }: Dataset, onEvent: (event: DatasetEvent) => void): LiveState {
  const stream = changeStreamOf(useClient(), id)
  const isTable = type === 'table'
  const take = useEffectEvent(onEvent)
  useEffect(() => (isTable ? stream.listen((event) => take(event)) : undefined), [stream, isTable])
  const state = useSyncExternalStore(stream.subscribe, stream.getState)
  return isTable ? state : noTable
}
