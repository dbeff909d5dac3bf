import { ApiError } from '../errors.ts'
import { type Caller, denied } from './acl.ts'
import type { KeyCache } from './key-cache.ts'

export const keyHeaders = ['x-api-key', 'x-svc-api-key'] as const
export const keyParameter = 'api-key'

/** What of a request can hold a credential. Header names are lower case; a header sent twice has two values. */
export type Credentials = {
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>
  readonly query: Readonly<Record<string, unknown>>
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
export const isUuid = (text: string): boolean => uuid.test(text)

/** The caller, or 401. */
export async function authenticate(request: Credentials, keys: KeyCache): Promise<Caller> {
  const id = presentedKey(request)
  if (id === undefined) throw denied('An API key is required: send it in the x-api-key header.')
  const key = isUuid(id) ? await keys.find(id.toLowerCase()) : undefined
  if (!key) throw denied('The API key is not valid.')
  checkOrigin(key.allowedOrigins, request.headers)
  const chosen = key.type === 'master' ? chosenApplication(request.headers) : undefined
  return {
    ...key,
    applicationId: chosen ?? key.applicationId,
    everyApplication: key.type === 'master' && chosen === undefined,
  }
}

/** The same key may come in several places; two different ones are a confusion that nobody should profit from. */
function presentedKey({ headers, query }: Credentials): string | undefined {
  const presented = [...keyHeaders.map((name) => headers[name]), query[keyParameter]].flat() as unknown[]
  const keys = new Set(presented.filter((value) => value !== undefined))
  if (keys.size > 1) throw denied('The request carries different API keys.')
  const [key] = keys
  return key === undefined || typeof key === 'string' ? key : ''
}

function chosenApplication(headers: Credentials['headers']): string | undefined {
  const ids = headers['x-application-id']
  if (ids === undefined) return undefined
  const [id = ''] = ids
  if (ids.length > 1 || !isUuid(id)) throw new ApiError('invalid_request', 'x-application-id is not an id.')
  return id.toLowerCase()
}

/** A browser names the page's origin in Origin, or for plain loads in Referer. */
function checkOrigin(allowed: readonly string[] | null, headers: Credentials['headers']): void {
  if (allowed === null) return
  const page = (headers.origin ?? headers.referer)?.[0] ?? ''
  const origin = URL.canParse(page) ? new URL(page).origin : ''
  if (!allowed.includes(origin)) throw denied('The API key is not valid for this origin.')
}
