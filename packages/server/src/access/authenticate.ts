import { ApiError } from '../errors.ts'
import { type Caller, denied } from './acl.ts'
import type { Bearers } from './bearers.ts'
import type { Key, KeyCache } from './key-cache.ts'
import type { Revocation } from './revocation.ts'

export const keyHeaders = ['x-api-key', 'x-svc-api-key'] as const
const tokenHeaders = ['authorization', 'authentication'] as const
export const keyParameter = 'api-key'
/** Tokens that stand beside a key and say nothing of who asks: only the tools read them. */
export const toolTokenPrefix = 'tools.'

/** What of a request can hold a credential. Raw headers tell a header sent twice from one whose value has a comma. */
export type Credentials = {
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[]
  readonly query: Readonly<Record<string, unknown>>
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
export const isUuid = (text: string): boolean => uuid.test(text)

/** Those who know which credentials live. */
export type Authority = { readonly keys: KeyCache; readonly bearers: Bearers; readonly revocation: Revocation }

/** The same, once read. */
type Presented = {
  readonly headers: ReadonlyMap<string, readonly string[]>
  readonly query: Readonly<Record<string, unknown>>
}

/** The caller, or 401. A token alone stands for a key; with a key, it says who asks and the key what may be done. */
export async function authenticate({ rawHeaders, query }: Credentials, authority: Authority): Promise<Caller> {
  const request = { headers: readHeaders(rawHeaders), query }
  const id = presentedKey(request)
  const token = presentedToken(request)
  if (token !== undefined) return bearerCaller(request, id, token, authority)
  if (id === undefined) throw denied('An API key is required: send it in the x-api-key header.')
  const key = live(await findKey(id, authority))
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

const findKey = (id: string, { keys }: Pick<Authority, 'keys'>) =>
  isUuid(id) ? keys.find(id.toLowerCase()) : undefined

function live(key: Key | undefined): Key {
  if (!key) throw denied('The API key is not valid.')
  return key
}

async function bearerCaller(
  request: Presented,
  id: string | undefined,
  token: string,
  authority: Authority,
): Promise<Caller> {
  const admitted = await authority.bearers.find(token)
  if (!admitted) throw invalidToken('The access token is not valid, or its session has ended.')
  const { applicationId, bearer } = admitted
  const key = id === undefined ? await admitted.key() : live(await findKey(id, authority))
  if (!key) throw invalidToken('No API key stands behind this access token: set metadata.auth.defaultApiKey.')
  checkOrigin(key.allowedOrigins, request)
  const chosen = key.type === 'master' ? (chosenApplication(request) ?? applicationId) : key.applicationId
  if (chosen !== applicationId) throw denied('The access token is of another application than the API key.')
  // A key that only the token stands for ends with it: whoever has the token sees and makes no key that lives longer.
  const expiresAt = id === undefined ? earlier(key.expiresAt, admitted.expiresAt) : key.expiresAt
  return { ...key, expiresAt, keyExpiresAt: key.expiresAt, applicationId, everyApplication: false, bearer }
}

const earlier = (one: Date | null, other: Date): Date => (one && one < other ? one : other)

/** Both names of the header, as often as they come, must say the same. Another scheme than Bearer is not meant for us. */
function presentedToken(request: Presented): string | undefined {
  if (!tokenHeaders.some((name) => request.headers.has(name))) return undefined
  const values = tokenHeaders.flatMap((name) => valuesOf(request, name)).filter(isAccessToken)
  const [token, other] = new Set(values.map((value) => /^bearer +([\w.~+/-]+=*)$/i.exec(value)?.[1] ?? ''))
  if (other !== undefined) throw denied('The request carries different access tokens.')
  if (token === '') throw invalidToken('The access token is sent as: Bearer TOKEN.')
  return token
}

const isAccessToken = (value: string): boolean =>
  /^bearer\b/i.test(value) && !value.slice('bearer '.length).startsWith(toolTokenPrefix)

const invalidToken = (detail: string): ApiError =>
  new ApiError('unauthorized', detail, {
    headers: { 'WWW-Authenticate': 'Bearer realm="graticule", error="invalid_token"' },
  })

/** The same key may come in several places; two different ones are a confusion that nobody should profit from. */
function presentedKey(request: Presented): string | undefined {
  const { [keyParameter]: asked } = request.query
  const keys: unknown[] = asked === undefined ? [] : [asked].flat()
  for (const name of keyHeaders) for (const value of valuesOf(request, name)) keys.push(value)
  const [key] = keys
  if (keys.some((other) => other !== key)) throw denied('The request carries different API keys.')
  return key === undefined || typeof key === 'string' ? key : ''
}

function chosenApplication(request: Presented): string | undefined {
  const [id, second] = valuesOf(request, 'x-application-id')
  if (id === undefined) return undefined
  if (second !== undefined || !isUuid(id)) throw new ApiError('invalid_request', 'x-application-id is not an id.')
  return id.toLowerCase()
}

/** A browser names the page's origin in Origin, or for plain loads in Referer. */
function checkOrigin(allowed: readonly string[] | null, request: Presented): void {
  if (allowed === null) return
  const [page = ''] = [...valuesOf(request, 'origin'), ...valuesOf(request, 'referer')]
  const origin = URL.canParse(page) ? new URL(page).origin : ''
  if (!allowed.includes(origin)) throw denied('The API key is not valid for this origin.')
}

const wanted: ReadonlySet<string> = new Set([...keyHeaders, ...tokenHeaders, 'x-application-id', 'origin', 'referer'])

/** The headers that matter here, with each value they come with. */
function readHeaders(rawHeaders: readonly string[]): Presented['headers'] {
  const found = new Map<string, string[]>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? ''
    if (!wanted.has(name)) continue
    const values = found.get(name)
    if (values) values.push(rawHeaders[index + 1] ?? '')
    else found.set(name, [rawHeaders[index + 1] ?? ''])
  }
  return found
}

const valuesOf = ({ headers }: Presented, name: string): readonly string[] => headers.get(name) ?? none
const none: readonly string[] = []
