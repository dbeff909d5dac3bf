/** Media queries as hooks, for layouts that CSS alone cannot do. */
import { useSyncExternalStore } from 'react'

const phone = matchMedia('(max-width: 700px)')

function subscribe(listener: () => void): () => void {
  phone.addEventListener('change', listener)
  return () => phone.removeEventListener('change', listener)
}

/** Uses the same breakpoint as the style sheets. */
export const useIsPhone = (): boolean => useSyncExternalStore(subscribe, () => phone.matches)
