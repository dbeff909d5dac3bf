/**
 * The session store. Credentials are in memory and, if the user chooses, in the tab's session storage; never in local
 * storage, cookies or the URL, where other pages, other people or logs could find them.
 */
import { type Client, createClient, type HeldTokens } from '@graticule/client'
import { serverUrl } from '../address.ts'

const storageName = 'graticule.session'

interface Credentials {
  apiKey: string | null
  tokens: HeldTokens | null
  /** The application that a master key works in; other keys have their own. */
  applicationId: string | null
  staysSignedIn: boolean
}

export interface ConsoleSession {
  readonly client: Client
  /** A client with the same credentials but without the selected application: a master key sees all of them. */
  readonly unscoped: Client
  readonly applicationId: string | null
  /** Changes with the user and the application, so that cached data are not shown to another. */
  readonly generation: number
}

let credentials = readStored()
let generation = 0
let session = credentials && open(credentials)
const listeners = new Set<() => void>()

export const getSession = (): ConsoleSession | null => session

export function subscribeSession(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Checks the key before signing in. */
export async function signInWithKey(apiKey: string, staysSignedIn: boolean): Promise<void> {
  await createClient(serverUrl, apiKey, { retries: 0 }).auth.access()
  replace({ apiKey, tokens: null, applicationId: null, staysSignedIn })
}

export interface PasswordLogin {
  email: string
  password: string
  applicationId: string
}

/** Checks the tokens before signing in: without a default key they have no permissions, and the server says so. */
export async function signInWithPassword(login: PasswordLogin, staysSignedIn: boolean): Promise<void> {
  const client = createClient(serverUrl, null, { retries: 0 })
  const tokens = await client.auth.login(login)
  await client.auth.access()
  replace({ apiKey: null, tokens, applicationId: login.applicationId, staysSignedIn })
}

/** Exchanges the one-time token of the link in the start banner. */
export async function signInWithLink(token: string): Promise<void> {
  const { apiKey } = await createClient(serverUrl).auth.exchange({ token })
  await signInWithKey(apiKey, true)
}

/** For master keys: selects an application, or all. */
export function chooseApplication(applicationId: string | null): void {
  if (credentials) replace({ ...credentials, applicationId })
}

export function signOut(): void {
  // Also ends the user's session on the server; a key has none.
  if (credentials?.tokens) session?.client.auth.logout().catch(() => undefined)
  replace(null)
}

function replace(next: Credentials | null): void {
  credentials = next
  generation += 1
  session = next && open(next)
  keep()
  for (const listener of listeners) listener()
}

function open({ apiKey, tokens, applicationId }: Credentials): ConsoleSession {
  // Only for master keys; for others the header would be refused or have no effect.
  const isChosen = apiKey !== null && applicationId !== null
  const client = createClient(serverUrl, apiKey, {
    accessToken: tokens?.accessToken,
    refreshToken: tokens?.refreshToken,
    headers: isChosen ? { 'x-application-id': applicationId } : {},
    onTokens: (renewed) => {
      if (!credentials?.tokens) return
      credentials = { ...credentials, tokens: renewed }
      keep()
    },
  })
  return { client, unscoped: isChosen ? createClient(serverUrl, apiKey) : client, applicationId, generation }
}

function keep(): void {
  if (credentials?.staysSignedIn) sessionStorage.setItem(storageName, JSON.stringify(credentials))
  else sessionStorage.removeItem(storageName)
}

function readStored(): Credentials | null {
  try {
    const stored: Credentials | null = JSON.parse(sessionStorage.getItem(storageName) ?? 'null')
    // Also of an older version of the console, which had another name for it.
    return stored && { ...stored, staysSignedIn: true }
  } catch {
    return null
  }
}
