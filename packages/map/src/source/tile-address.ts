/// <reference lib="dom" />
/** Addresses of tiles on the client's server. */
import { isServerAddress, type MapClient } from '../map-client.ts'

const versionPattern = /(?<=[?&]tile-version=)[^&#]*/

/** The version of the data in the address of tiles; empty where it has none. */
export const versionOf = (address: string | undefined): string => versionPattern.exec(address ?? '')?.[0] ?? ''

export function withVersion(address: string, version: string): string {
  if (versionPattern.test(address)) return address.replace(versionPattern, version)
  return `${address}${address.includes('?') ? '&' : '?'}tile-version=${version}`
}

/** The tile source whose TileJSON or tiles have the address, and the key in it. Undefined for other addresses, and other servers. */
export function tileSourceOf(
  client: MapClient,
  address: string | undefined,
): { tileSourceId: string; apiKey: string | undefined } | undefined {
  if (!address || !isServerAddress(client, address)) return undefined
  const { pathname, searchParams } = new URL(address, document.baseURI)
  const own = new URL(client.url).pathname.replace(/\/$/, '')
  const tileSourceId = /^\/tiles\/([\w-]+)\//.exec(pathname.slice(own.length))?.[1]
  return tileSourceId === undefined ? undefined : { tileSourceId, apiKey: searchParams.get('api-key') ?? undefined }
}
