import { whenReady } from '../../kernel/concurrency/when-ready.ts'
import { ApiError, invalid } from '../../kernel/errors.ts'
import { type Caller, denied } from './acl.ts'
import type { AdmittedBearer, BearerCache } from './bearer-cache.ts'
import type { HoldConnection } from './connection-shares.ts'
import {
  type Credentials,
  isUuid,
  onlyOne,
  type PresentedCredentials,
  readCredentials,
  valuesOf,
} from './credentials.ts'
import type { Key, KeyCache } from './key-cache.ts'
import type { LimitRate } from './rate-limit.ts'
import type { Revocation } from './revocation.ts'
import { mayBePlatformToken } from './secrets/access-tokens.ts'

/** The caches and checks that authentication uses. */
export type Authority = {
  readonly keys: KeyCache
  readonly bearers: BearerCache
  readonly revocation: Revocation
  /** Called for each authenticated request. */
  readonly noteRequest?: ((caller: Caller) => void) | undefined
  readonly limitRate?: LimitRate
  readonly holdConnection?: HoldConnection
}

/** The caller that a tool token speaks for, or nothing when it is none or its invocation is over. */
export type ReadToolToken = (token: string) => Promise<Caller | undefined>

/**
 * The caller, or 401; at once when the key is cached. A token alone stands for a key; with a key, it says who asks and the
 * key what may be done. A tool token is enough alone where the operation reads it.
 */
export function authenticate(
  credentials: Credentials,
  authority: Authority,
  readToolToken?: ReadToolToken,
): Caller | Promise<Caller> {
  const request = readCredentials(credentials)
  const id = presentedKey(request)
  const token = presentedToken(request)
  if (token !== undefined) return bearerCaller(request, id, token, authority)
  if (id === undefined) return toolCaller(request, readToolToken)
  return whenReady(findKey(id, authority), (key) => keyCaller(live(key), request))
}

function keyCaller(key: Key, request: PresentedCredentials): Caller {
  checkOrigin(key.allowedOrigins, request)
  const chosen = key.type === 'master' ? chosenApplication(request) : undefined
  return {
    ...key,
    keyExpiresAt: key.expiresAt,
    applicationId: chosen ?? key.applicationId,
    everyApplication: key.type === 'master' && chosen === undefined,
    bearer: null,
  }
}

async function toolCaller({ toolTokens }: PresentedCredentials, read: ReadToolToken | undefined): Promise<Caller> {
  const token = onlyOne(toolTokens, 'tool tokens')
  if (token === undefined || !read) throw denied('An API key is required: send it in the x-api-key header.')
  const caller = await read(token)
  if (!caller) throw invalidToken('The tool token is not valid, or its invocation has ended.')
  return caller
}

function findKey(text: string, { keys }: Pick<Authority, 'keys'>): Key | undefined | Promise<Key | undefined> {
  if (!isUuid(text)) return undefined
  const id = text.toLowerCase()
  return whenReady(keys.find(id), (key) => {
    const expiry = key ? undefined : keys.expiryOf(id)
    if (expiry) throw denied(`The API key expired at ${expiry.toISOString()}. Use another key, or have a new one made.`)
    return key
  })
}

function live(key: Key | undefined): Key {
  if (!key) throw denied('The API key is not valid.')
  return key
}

function bearerCaller(
  request: PresentedCredentials,
  id: string | undefined,
  token: string,
  authority: Authority,
): Caller | Promise<Caller> {
  return whenReady(findBearer(request, id, token, authority), (admitted) => {
    if (!admitted) throw invalidToken('The access token is not valid, or its session has ended.')
    if (id === undefined) return whenReady(admitted.key(), (key) => tokenCaller(request, admitted, key))
    return whenReady(findKey(id, authority), (key) => callerOfBoth(request, admitted, live(key)))
  })
}

type Admission = AdmittedBearer | undefined | Promise<AdmittedBearer | undefined>

/** A token of the platform names its application. For one of a provider the key does, or the header `x-application-id`. */
function findBearer(
  request: PresentedCredentials,
  id: string | undefined,
  token: string,
  authority: Authority,
): Admission {
  const { bearers } = authority
  const ofProvider = (): Admission => {
    if (id === undefined) return bearers.findOfProvider(token, chosenApplication(request))
    return whenReady(findKey(id, authority), (key) => {
      const { type, applicationId } = live(key)
      return bearers.findOfProvider(token, type === 'master' ? chosenApplication(request) : applicationId)
    })
  }
  if (mayBePlatformToken(token)) return whenReady(bearers.find(token), (admitted) => admitted ?? ofProvider())
  return isJwt.test(token) ? ofProvider() : bearers.find(token)
}

const isJwt = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** The key ends with the token, so that the token's holder sees and creates no key that lives longer. */
function tokenCaller(request: PresentedCredentials, admitted: AdmittedBearer, key: Key | undefined): Caller {
  if (!key) throw invalidToken('No API key stands behind this access token: set metadata.auth.defaultApiKey.')
  return { ...callerOfBoth(request, admitted, key), expiresAt: earlier(key.expiresAt, admitted.expiresAt) }
}

function callerOfBoth(
  request: PresentedCredentials,
  { applicationId, bearer, user }: AdmittedBearer,
  key: Key,
): Caller {
  checkOrigin(key.allowedOrigins, request)
  const chosen = key.type === 'master' ? (chosenApplication(request) ?? applicationId) : key.applicationId
  if (chosen !== applicationId) throw denied('The access token and the API key belong to different applications.')
  return { ...key, keyExpiresAt: key.expiresAt, applicationId, everyApplication: false, bearer, user }
}

const earlier = (one: Date | null, other: Date): Date => (one && one < other ? one : other)

/** All values, under both names of the header, must be equal. */
function presentedToken({ accessTokens }: PresentedCredentials): string | undefined {
  const token = onlyOne(accessTokens, 'access tokens')
  if (token === '') throw invalidToken('Send the access token as Authorization: Bearer TOKEN.')
  return token
}

const invalidToken = (detail: string): ApiError =>
  new ApiError('unauthorized', detail, {
    headers: { 'WWW-Authenticate': 'Bearer realm="graticule", error="invalid_token"' },
  })

function presentedKey({ keys }: PresentedCredentials): string | undefined {
  const key = onlyOne(keys, 'API keys')
  return key === undefined || typeof key === 'string' ? key : ''
}

function chosenApplication(request: PresentedCredentials): string | undefined {
  const [id, second] = valuesOf(request, 'x-application-id')
  if (id === undefined) return undefined
  if (second !== undefined || !isUuid(id)) {
    throw invalid('header/x-application-id', 'must be the id of one application: a UUID')
  }
  return id.toLowerCase()
}

/** A browser names the page's origin in Origin, or for plain loads in Referer. */
function checkOrigin(allowed: readonly string[] | null, request: PresentedCredentials): void {
  if (allowed === null) return
  const [page = ''] = [...valuesOf(request, 'origin'), ...valuesOf(request, 'referer')]
  const origin = URL.canParse(page) ? new URL(page).origin : ''
  if (!allowed.includes(origin))
    throw denied('The API key is not valid for this origin: its allowedOrigins do not name it.')
}
