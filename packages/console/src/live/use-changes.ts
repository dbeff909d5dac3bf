/** Follows the changes of a dataset while a component is mounted. */
import type { ChangeStreamState, Dataset, DatasetEvent } from '@graticule/client'
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react'
import { useClient } from '../session/session.tsx'

/** Known without asking, which would leave an error in the browser's console. */
const noTable: ChangeStreamState = {
  kind: 'refused',
  error: new Error('Only datasets of type table can be followed.'),
}

export function useChanges({ id, type }: Dataset, onEvent: (event: DatasetEvent) => void): ChangeStreamState {
  const stream = useClient().datasets.changeStream(id)
  const isTable = type === 'table'
  const take = useEffectEvent(onEvent)
  useEffect(() => (isTable ? stream.listen((event) => take(event)) : undefined), [stream, isTable])
  const state = useSyncExternalStore(stream.subscribe, stream.getState)
  return isTable ? state : noTable
}
