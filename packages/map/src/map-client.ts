/// <reference lib="dom" />
/** The part of `@graticule/client` that maps use, and the rules for which URLs get credentials. */
import type { AttributeStatistics, ChangeStream, Dataset, Place } from '@graticule/client'
import type { FilterParams } from './source/source-filter.ts'

type AddressParams = FilterParams & { apiKey?: string; limit?: number; aggregate?: string; value?: string[] }
type ListParams = { filter?: Record<string, unknown>; limit?: number; apiKey?: string }

export interface MapClient {
  /** The server's URL, without a trailing slash. */
  readonly url: string
  transformRequest(url: string, resourceType?: string): { url: string; headers?: Record<string, string> }
  readonly styles: { list(params: ListParams): Promise<readonly { id: string; name: string }[]> }
  readonly maps: { url(styleId: string, params?: AddressParams): string }
  readonly tiles: {
    url(id: string, params?: AddressParams): string
    describe(
      id: string,
      params: FilterParams & { 'tile-version'?: string; apiKey?: string | undefined; signal?: AbortSignal },
    ): Promise<DescribedTiles>
  }
  readonly places: {
    search(
      text: string,
      params: { limit: number; near?: readonly [number, number]; signal: AbortSignal },
    ): Promise<{ readonly places: readonly FoundPlace[]; readonly attribution: string }>
  }
  readonly datasets: {
    list(params: ListParams): Promise<readonly { id: string; name: string }[]>
    get(id: string, params: { apiKey?: string }): Promise<Pick<Dataset, 'id' | 'name' | 'attributes'>>
    statistics(
      id: string,
      attribute: string,
      params: { quantiles?: number; bins?: number; apiKey?: string },
    ): Promise<AttributeStatistics>
    changeStream(id: string, params: { apiKey?: string | undefined }): ChangeStream
    query(
      id: string,
      query: { where?: Readonly<Record<string, unknown>>; time?: string; limit?: number },
      params: { format: 'geojson'; apiKey?: string; signal?: AbortSignal },
    ): Promise<unknown>
  }
}

/** A place that a search found. */
export type FoundPlace = Readonly<Place>

/** The parts of TileJSON that maps read. */
export interface DescribedTiles {
  readonly tiles?: string[]
  readonly bounds?: [number, number, number, number]
  /** The dataset that the tiles are made from, and the newest change of it that they have. */
  readonly dataset?: { readonly id: string; readonly lastChange?: string }
}

type RequestTransform = (url: string, resourceType?: string) => { url: string; headers?: Record<string, string> }

const keyParameter = 'api-key'

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i
/** Tiles of the server that are no record. */
const builtInIds: readonly string[] = ['basemap']

/** Whether the text is a name that must be looked up. Addresses have a slash, dot, colon or brace. */
export const isName = (text: string): boolean =>
  !uuid.test(text) && !builtInIds.includes(text) && text.trim() !== '' && !/[/:.{}?#]/.test(text)

/** Ids of styles and datasets have no dot, slash or colon; every URL has at least one. */
export const isId = (text: string): boolean => /^[\w-]+$/.test(text)

export function isServerAddress(client: MapClient, address: string): boolean {
  const own = new URL(client.url)
  if (!URL.canParse(address, document.baseURI)) return false
  const url = new URL(address, document.baseURI)
  const prefix = own.pathname.endsWith('/') ? own.pathname : `${own.pathname}/`
  return url.origin === own.origin && url.pathname.startsWith(prefix)
}

/** Adds a source's own key to a URL of the server; other URLs stay as they are. */
export function withKey(client: MapClient, address: string, apiKey: string | undefined): string {
  if (!apiKey || !isServerAddress(client, address)) return address
  const [beforeHash = '', hash] = address.split('#', 2)
  const separator = beforeHash.includes('?') ? '&' : '?'
  const own = `${beforeHash}${separator}${keyParameter}=${encodeURIComponent(apiKey)}`
  return hash === undefined ? own : `${own}#${hash}`
}

/**
 * Adds the client's credentials to URLs of the server only, and not to those with a source's own key: the server refuses
 * requests with two keys.
 */
export function transformFor(client: MapClient, others?: RequestTransform): RequestTransform {
  return (url, resourceType) => {
    if (!isServerAddress(client, url)) return others?.(url, resourceType) ?? { url }
    return client.transformRequest(url, resourceType)
  }
}

/** Redacts keys, because error messages of failed requests contain the URL. */
const withoutKeys = (text: string): string => text.replaceAll(/(api-key=)[^&\s"']+/g, '$1…')

/** For a missing source layer, MapLibre names the source only in the message. */
export const namedSource = (error: unknown): string | undefined =>
  error instanceof Error ? /does not exist on source "([^"]+)"/.exec(error.message)?.[1] : undefined

export function errorOf(cause: unknown, prefix = ''): Error {
  const message = cause instanceof Error ? cause.message : String(cause)
  return new Error(`${prefix}${withoutKeys(message)}`, { cause })
}
