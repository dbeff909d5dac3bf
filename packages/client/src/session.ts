// The credentials of a client, and the refresh of its access token.
import { ApiError } from './api-error.ts'
import type { Refresh as RefreshBody, Tokens } from './types.ts'

/** The current tokens of a client. */
export type HeldTokens = { readonly [name in keyof Tokens]: string | null }

/** What has become of the session: somebody has signed in, its tokens were replaced, or nobody is signed in any more. */
export type AuthEvent = 'signedIn' | 'refreshed' | 'signedOut'

export type TellChange = (event: AuthEvent, tokens: HeldTokens) => void

/** The credentials of a client: an access token of a user, otherwise an API key. */
export interface Session {
  /** The server's URL, without a trailing slash. */
  readonly url: string
  /** Sent as x-api-key while there is no access token. */
  apiKey: string | null
  /** Sent as a bearer token, instead of the key. */
  accessToken: string | null
  /** If set, an expired access token is replaced once and the request repeated. */
  refreshToken: string | null
}

export type Credentials = Record<string, string>

export function credentialsOf({ accessToken, apiKey }: Session): Credentials {
  if (accessToken !== null) return { authorization: `Bearer ${accessToken}` }
  return apiKey === null ? {} : { 'x-api-key': apiKey }
}

/** Gets a new access token; false if that is not possible. */
export type SessionRefresh = () => Promise<boolean>

/** Asks the server for a new access token. */
type Renew = (body: RefreshBody) => Promise<string>

/** Single-flight: requests that find the token expired at the same time share one refresh. */
export function createRefresh(session: Session, renew: Renew, tell: TellChange): SessionRefresh {
  let running: Promise<boolean> | undefined
  return () => {
    running ??= refresh(session, renew, tell).finally(() => {
      running = undefined
    })
    return running
  }
}

async function refresh(session: Session, renew: Renew, tell: TellChange): Promise<boolean> {
  const { accessToken, refreshToken } = session
  const applicationId = audienceOf(accessToken)
  if (refreshToken === null || applicationId === undefined) return false
  const renewed = await renew({ refreshToken, applicationId }).catch(ifRefused)
  // A login or logout in the meantime takes precedence.
  if (session.refreshToken !== refreshToken) return session.accessToken !== accessToken
  if (renewed !== undefined) session.accessToken = renewed
  // The session has ended; another refresh would fail as well.
  else session.refreshToken = null
  const tokens = { accessToken: session.accessToken, refreshToken: session.refreshToken }
  tell(renewed === undefined ? 'signedOut' : 'refreshed', tokens)
  return renewed !== undefined
}

function ifRefused(error: unknown): undefined {
  if (!(error instanceof ApiError && error.status === 401)) throw error
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
