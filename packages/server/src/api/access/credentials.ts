import { denied } from './acl.ts'

/** Headers that carry an API key and nothing else. */
export const keyHeaders = ['x-api-key', 'x-svc-api-key'] as const
/** The query parameter that carries an API key. */
export const keyParameter = 'api-key'
/** Tool tokens come beside a key, or alone where an operation reads them. They do not identify a user. */
export const toolTokenPrefix = 'tools.'
const authorizationHeaders = ['authorization', 'authentication'] as const

/** The parts of a request that can hold a credential. Raw headers, because joined ones hide that a header came twice. */
export type Credentials = {
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[]
  readonly query: Readonly<Record<string, unknown>>
}

/** The credentials that a request presents. */
export type PresentedCredentials = {
  /** Each API key that was sent, in any place. One that is no text cannot be valid. */
  readonly keys: readonly unknown[]
  /** Each `Bearer` value that is neither a key nor a tool token; an empty text is one that cannot be read. */
  readonly accessTokens: readonly string[]
  readonly toolTokens: readonly string[]
  readonly headers: ReadonlyMap<string, readonly string[]>
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
export const isUuid = (text: string): boolean => uuid.test(text)

/** Reads the credentials: a key may come in headers of its own, in the query, as Bearer or in Basic. */
export function readCredentials({ rawHeaders, query }: Credentials): PresentedCredentials {
  const headers = readHeaders(rawHeaders)
  const { [keyParameter]: parameter } = query
  const keys: unknown[] = parameter === undefined ? [] : [parameter].flat()
  for (const name of keyHeaders) for (const value of headers.get(name) ?? none) keys.push(value)
  const presented = { keys, accessTokens: [] as string[], toolTokens: [] as string[], headers }
  for (const name of authorizationHeaders) for (const value of headers.get(name) ?? none) sort(value, presented)
  return presented
}

type Sorted = { keys: unknown[]; accessTokens: string[]; toolTokens: string[] }

/** Many tools can send nothing but `Authorization`: a bearer that has the form of a key is one. */
function sort(value: string, { keys, accessTokens, toolTokens }: Sorted): void {
  if (/^basic\b/i.test(value)) {
    const key = basicKey(value)
    // Anything else is meant for a proxy in front.
    if (isUuid(key)) keys.push(key)
  } else if (/^bearer\b/i.test(value)) {
    const token = /^bearer +([\w.~+/-]+=*)$/i.exec(value)?.[1] ?? ''
    if (isUuid(token)) keys.push(token)
    else if (value.slice('bearer '.length).startsWith(toolTokenPrefix)) toolTokens.push(token)
    else accessTokens.push(token)
  }
}

/** The password, or the user name where the password is empty. */
function basicKey(value: string): string {
  const text = Buffer.from(value.slice('basic '.length).trim(), 'base64').toString()
  const colon = text.indexOf(':')
  return colon === -1 ? text : text.slice(colon + 1) || text.slice(0, colon)
}

/**
 * The same credential may come in several places. Two different ones are refused, because proxies could disagree on which
 * counts.
 */
export function onlyOne<T>(values: readonly T[], what: string): T | undefined {
  const [one] = values
  if (values.some((other) => other !== one)) throw denied(`The request carries different ${what}.`)
  return one
}

const wanted: ReadonlySet<string> = new Set([
  ...keyHeaders,
  ...authorizationHeaders,
  ...['x-application-id', 'origin', 'referer'],
])

/** The headers that matter here, with each value they come with. */
function readHeaders(rawHeaders: readonly string[]): PresentedCredentials['headers'] {
  const headers = new Map<string, string[]>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? ''
    if (!wanted.has(name)) continue
    const values = headers.get(name)
    if (values) values.push(rawHeaders[index + 1] ?? '')
    else headers.set(name, [rawHeaders[index + 1] ?? ''])
  }
  return headers
}

const none: readonly string[] = []

export const valuesOf = ({ headers }: Pick<PresentedCredentials, 'headers'>, name: string): readonly string[] =>
  headers.get(name) ?? none
