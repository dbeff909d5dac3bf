/**
 * Redirects the requests of maps to the server of the page. Styles and TileJSON have absolute URLs; without BASE_URL the
 * server derives them from the address at which the request arrived, which may differ from the public one. The content
 * security policy allows no other server anyway.
 */
import type { Client } from '@graticule/client'
import { serverUrl } from '../address.ts'

const mapPath = /\/((?:tiles|fonts|sprites|maps)\/.*)$/

/** The same path on our own server, if it is a map resource. */
export function serverAddress(url: string): string {
  const { protocol, origin, pathname, search } = new URL(url)
  // Custom protocols are handled by functions of the page.
  if (!/^https?:$/.test(protocol)) return url
  const [, path] = mapPath.exec(pathname) ?? []
  return origin === new URL(serverUrl).origin || path === undefined ? url : serverUrl + path + search
}

/** A transformRequest for MapLibre that adds the client's credentials. */
export const toServer =
  ({ transformRequest }: Pick<Client, 'transformRequest'>) =>
  (url: string): ReturnType<Client['transformRequest']> =>
    transformRequest(serverAddress(url))
