import { ApiError } from './api-error.ts'
import type { Refresh as RefreshBody, Tokens } from './types.ts'

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

/** Asks the server for a new access token. */
type Renew = (body: RefreshBody) => Promise<string>

/** Single-flight: requests that find the token expired at the same time share one refresh. */
export function createRefresh(session: Session, renew: Renew, onTokens: (tokens: HeldTokens) => void): Refresh {
  let running: Promise<boolean> | undefined
  return () => {
    running ??= refresh(session, renew, onTokens).finally(() => {
      running = undefined
    })
    return running
  }
}

async function refresh(session: Session, renew: Renew, onTokens: (tokens: HeldTokens) => void): Promise<boolean> {
  const { accessToken, refreshToken } = session
  const applicationId = audienceOf(accessToken)
  if (refreshToken === null || applicationId === undefined) return false
  const renewed = await renew({ refreshToken, applicationId }).catch(ifRefused)
  // Somebody logged in or out meanwhile: that is newer.
  if (session.refreshToken !== refreshToken) return session.accessToken !== accessToken
  if (renewed !== undefined) session.accessToken = renewed
  // The session is over, and asking again would not change that.
  else session.refreshToken = null
  onTokens({ accessToken: session.accessToken, refreshToken: session.refreshToken })
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
