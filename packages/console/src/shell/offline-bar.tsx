/** A bar that is shown while the server cannot be reached; the console keeps working with cached data. */
import { ApiError } from '@graticule/client'
import { useQuery } from '@tanstack/react-query'
import { type ReactElement, useEffect, useState } from 'react'
import { useSession } from '../session/session.tsx'
import classes from './shell.module.css'

const checkEveryMs = 30_000
const tryAgainMs = 4000

export function OfflineBar(): ReactElement | null {
  const { client } = useSession()
  const { error, failureCount } = useQuery({
    queryKey: ['reachable'],
    queryFn: ({ signal }) => client.server.health({ signal }),
    refetchInterval: ({ state }) => (state.error ? tryAgainMs : checkEveryMs),
    staleTime: 0,
  })
  const [isOffline, setOffline] = useState(!navigator.onLine)
  useEffect(() => {
    const note = () => setOffline(!navigator.onLine)
    addEventListener('online', note)
    addEventListener('offline', note)
    return () => {
      removeEventListener('online', note)
      removeEventListener('offline', note)
    }
  }, [])
  const isLost = error instanceof ApiError && error.status === 0
  if (!isLost && !isOffline) return null
  return (
    <div role="status" className={classes.offline} data-tries={failureCount}>
      The server cannot be reached. Trying again every {tryAgainMs / 1000} seconds; what is shown may be old.
    </div>
  )
}
