import { ApiError } from '../errors.ts'
import { type Caller, denied } from './acl.ts'
import type { KeyCache } from './key-cache.ts'

export const keyHeaders = ['x-api-key', 'x-svc-api-key'] as const
export const keyParameter = 'api-key'

/** What of a request can hold a credential. Raw headers tell a header sent twice from one whose value has a comma. */
export type Credentials = {
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[]
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
  checkOrigin(key.allowedOrigins, request)
  const chosen = key.type === 'master' ? chosenApplication(request) : undefined
  return {
    ...key,
    applicationId: chosen ?? key.applicationId,
    everyApplication: key.type === 'master' && chosen === undefined,
  }
}

/** The same key may come in several places; two different ones are a confusion that nobody should profit from. */
function presentedKey(request: Credentials): string | undefined {
  const inQuery: unknown[] = [request.query[keyParameter]].flat()
  const keys = new Set(keyHeaders.flatMap((name): unknown[] => valuesOf(request, name)).concat(inQuery))
  keys.delete(undefined)
  if (keys.size > 1) throw denied('The request carries different API keys.')
  const [key] = keys
  return key === undefined || typeof key === 'string' ? key : ''
}

function chosenApplication(request: Credentials): string | undefined {
  const [id, second] = valuesOf(request, 'x-application-id')
  if (id === undefined) return undefined
  if (second !== undefined || !isUuid(id)) throw new ApiError('invalid_request', 'x-application-id is not an id.')
  return id.toLowerCase()
}

/** A browser names the page's origin in Origin, or for plain loads in Referer. */
function checkOrigin(allowed: readonly string[] | null, request: Credentials): void {
  if (allowed === null) return
  const [page = ''] = [...valuesOf(request, 'origin'), ...valuesOf(request, 'referer')]
  const origin = URL.canParse(page) ? new URL(page).origin : ''
  if (!allowed.includes(origin)) throw denied('The API key is not valid for this origin.')
}

function valuesOf({ rawHeaders }: Credentials, name: string): string[] {
  const values: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '')
  }
  return values
}
