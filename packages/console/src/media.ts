/** Media queries as hooks. */
import { useSyncExternalStore } from 'react'

function hookOf(query: string): () => boolean {
  const list = matchMedia(query)
  const subscribe = (listener: () => void) => {
    list.addEventListener('change', listener)
    return () => list.removeEventListener('change', listener)
  }
  return () => useSyncExternalStore(subscribe, () => list.matches)
}

export const useIsPhone = hookOf('(max-width: 700px)')
/** Too narrow for a page beside a rail with labels. */
export const useIsTablet = hookOf('(max-width: 1000px)')
