import { problemError } from './api-error.ts'
import type { Tokens } from './types.ts'

/** The tokens that a client has at the moment. */
export type HeldTokens = { readonly [name in keyof Tokens]: string | null }

/** Whom a client speaks for: with an access token its user, otherwise the holder of the key. */
export interface Session {
  /** The server's address, without a slash at its end. */
  readonly url: string
  /** Sent as x-api-key while there is no access token. */
  apiKey: string | null
  /** Sent as a bearer token when it is set; the key is not sent then. */
  accessToken: string | null
  /** When it is set, an expired access token is replaced once and the request repeated. */
  refreshToken: string | null
}

export type Credentials = Record<string, string>

export function credentialsOf({ accessToken, apiKey }: Session): Credentials {
  if (accessToken !== null) return { authorization: `Bearer ${accessToken}` }
  return apiKey === null ? {} : { 'x-api-key': apiKey }
}

/** Gives a session a new access token, or says that it cannot. */
export type Refresh = () => Promise<boolean>

interface RefreshOptions {
  readonly session: Session
  readonly fetch: typeof fetch
  readonly onTokens: (tokens: HeldTokens) => void
}

/** Single-flight: requests that find the token expired at the same time share one refresh. */
export function createRefresh(options: RefreshOptions): Refresh {
  let running: Promise<boolean> | undefined
  return () => {
    running ??= refresh(options).finally(() => {
      running = undefined
    })
    return running
  }
}

async function refresh({ session, fetch, onTokens }: RefreshOptions): Promise<boolean> {
  const { url, accessToken, refreshToken } = session
  const applicationId = audienceOf(accessToken)
  if (refreshToken === null || applicationId === undefined) return false
  const response = await fetch(`${url}/api/v1/auth/refresh`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ refreshToken, applicationId }),
    redirect: 'error',
  })
  // Somebody logged in or out meanwhile: that is newer.
  if (session.refreshToken !== refreshToken) return session.accessToken !== accessToken
  if (response.ok) session.accessToken = (await response.json()) as string
  // The session is over, and asking again would not change that.
  else if (response.status === 401) session.refreshToken = null
  else throw problemError((await response.json().catch(() => ({}))) as object, response.status)
  onTokens({ accessToken: session.accessToken, refreshToken: session.refreshToken })
  return response.ok
}

/** The application that an access token is for: the audience of the JWT. */
export function audienceOf(token: string | null): string | undefined {
  try {
    const payload = token?.split('.')[1] ?? ''
    return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))).aud
  } catch {
    return undefined
  }
}
