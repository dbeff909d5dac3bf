/// <reference lib="dom" />
/** What the map needs of `@graticule/client`, and which addresses are the server's own. */

type AddressParams = { apiKey?: string; limit?: number }

export interface MapClient {
  /** The server's address, without a slash at the end. */
  readonly url: string
  transformRequest(url: string, resourceType?: string): { url: string; headers?: Record<string, string> }
  readonly maps: { url(styleId: string, params?: AddressParams): string }
  readonly tiles: { url(id: string, params?: AddressParams): string }
  readonly datasets: {
    query(
      id: string,
      query: { where?: Record<string, unknown>; limit?: number },
      params: { format: 'geojson'; apiKey?: string; signal?: AbortSignal },
    ): Promise<unknown>
  }
}

type RequestTransform = (url: string, resourceType?: string) => { url: string; headers?: Record<string, string> }

const keyParameter = 'api-key'

/** Ids of styles and datasets have no dot, slash or colon, which every address has. */
export const isId = (text: string): boolean => /^[\w-]+$/.test(text)

function isOwnAddress(client: MapClient, address: string): boolean {
  const own = new URL(client.url)
  if (!URL.canParse(address, document.baseURI)) return false
  const asked = new URL(address, document.baseURI)
  const prefix = own.pathname.endsWith('/') ? own.pathname : `${own.pathname}/`
  return asked.origin === own.origin && asked.pathname.startsWith(prefix)
}

/** The address with a source's own key, if it is the server's; any other address stays as it is. */
export function withKey(client: MapClient, address: string, apiKey: string | undefined): string {
  if (!apiKey || !isOwnAddress(client, address)) return address
  const [beforeHash = '', hash] = address.split('#', 2)
  const separator = beforeHash.includes('?') ? '&' : '?'
  const own = `${beforeHash}${separator}${keyParameter}=${encodeURIComponent(apiKey)}`
  return hash === undefined ? own : `${own}#${hash}`
}

/**
 * Credentials go to the server's own addresses only, and never beside a source's own key: the server refuses requests
 * with two keys.
 */
export function transformFor(client: MapClient, others?: RequestTransform): RequestTransform {
  return (url, resourceType) => {
    if (!isOwnAddress(client, url)) return others?.(url, resourceType) ?? { url }
    return client.transformRequest(url, resourceType)
  }
}

/** Messages of failed requests name the address, and with it the key. */
export const withoutKeys = (text: string): string => text.replaceAll(/(api-key=)[^&\s"']+/g, '$1…')
