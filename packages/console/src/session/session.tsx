/** The session context: the client, its permissions, and its query cache. */
import type { Access, Client } from '@graticule/client'
import { ApiError } from '@graticule/client'
import { QueryCache, QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query'
import { createContext, type ReactElement, type ReactNode, use, useEffect, useMemo, useSyncExternalStore } from 'react'
import type { AclClass, AclLevel } from '../../../server/src/api/access/grants.ts'
import { ErrorNote } from '../components/error-note.tsx'
import { Skeleton } from '../components/note.tsx'
import { isGranted } from './permissions.ts'
import { type ConsoleSession, getSession, signOut, subscribeSession } from './session-store.ts'

const freshMs = 15_000

interface SignedIn extends ConsoleSession {
  access: Access
}

const SessionContext = createContext<SignedIn | null>(null)

/** The session, for components below `SessionProvider`. */
export function useSession(): SignedIn {
  const session = use(SessionContext)
  if (!session) throw new Error('useSession is used outside of SessionProvider.')
  return session
}

export const useClient = (): Client => useSession().client

/** `may('datasets', 'write', id)`: whether the key allows it, to disable controls. The server still checks. */
export function useMay(): (aclClass: AclClass, level: AclLevel, id?: string) => boolean {
  const { access } = useSession()
  return (aclClass, level, id) => isGranted(access.permissions, aclClass, level, id)
}

/** Why a control is disabled; undefined if the key allows the action. */
export function useRefusal(): (aclClass: AclClass, level: AclLevel, id?: string) => string | undefined {
  const may = useMay()
  return (aclClass, level, id) =>
    may(aclClass, level, id) ? undefined : `This key may not do that: it needs ${level} on ${aclClass}.`
}

const useSessionState = (): ConsoleSession | null => useSyncExternalStore(subscribeSession, getSession)

interface SessionProviderProps {
  signIn: ReactNode
  children: ReactNode
}

/** Renders its children if a user is signed in, otherwise the sign-in page. */
export function SessionProvider({ signIn, children }: SessionProviderProps): ReactNode {
  const session = useSessionState()
  return session ? (
    <Entered key={session.generation} session={session}>
      {children}
    </Entered>
  ) : (
    signIn
  )
}

interface EnteredProps {
  session: ConsoleSession
  children: ReactNode
}

function Entered({ session, children }: EnteredProps): ReactElement {
  const queryClient = useMemo(() => createQueryClient(session.client), [session.client])
  return (
    <QueryClientProvider client={queryClient}>
      <WithAccess session={session}>{children}</WithAccess>
    </QueryClientProvider>
  )
}

interface WithAccessProps {
  session: ConsoleSession
  children: ReactNode
}

function WithAccess({ session, children }: WithAccessProps): ReactElement {
  const {
    data: access,
    error,
    refetch,
  } = useQuery({
    queryKey: ['access'],
    queryFn: ({ signal }) => session.client.auth.access({ signal }),
    staleTime: 60_000,
  })
  useEffect(() => {
    // The key or token is deleted, expired or invalid, so nothing here can work.
    if (error instanceof ApiError && error.status === 401) signOut()
  }, [error])
  const value = useMemo(() => access && { ...session, access }, [session, access])
  if (value) return <SessionContext value={value}>{children}</SessionContext>
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />
  return <Skeleton height="100%" />
}

/**
 * A 401 may only mean "not allowed" (the API has no 403), so it does not sign out. Instead, the access query is repeated,
 * and its result decides.
 */
function createQueryClient(client: Client): QueryClient {
  const queryClient: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError(error, query) {
        if (!(error instanceof ApiError) || error.status !== 401 || query.queryKey[0] === 'access') return
        client.auth.access().catch((failure) => {
          if (failure instanceof ApiError && failure.status === 401) signOut()
        })
      },
    }),
    // The client already retries what is safe to repeat.
    defaultOptions: {
      queries: { staleTime: freshMs, retry: false, refetchOnWindowFocus: true },
      mutations: { retry: false },
    },
  })
  return queryClient
}
