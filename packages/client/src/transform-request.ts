import { credentialsOf, type Session } from './session.ts'

export interface TransformedRequest {
  url: string
  headers?: Record<string, string>
}

/**
 * MapLibre's transformRequest: adds the credentials of the moment to requests for the client's own server. They go nowhere
 * else: addresses are compared as browsers read them, and one that has a key of its own keeps that.
 */
export function transformRequest(session: Session, url: string): TransformedRequest {
  const address = resolve(url)
  if (!address || !isBelow(new URL(session.url), address) || address.searchParams.has('api-key')) return { url }
  const headers = credentialsOf(session)
  return Object.keys(headers).length === 0 ? { url } : { url, headers }
}

/** As the page would: outside of a page a relative address leads nowhere. */
function resolve(url: string): URL | undefined {
  const { location } = globalThis as { location?: { href: string } }
  try {
    return new URL(url, location?.href)
  } catch {
    return undefined
  }
}

function isBelow(server: URL, { origin, pathname }: URL): boolean {
  const prefix = server.pathname.endsWith('/') ? server.pathname : `${server.pathname}/`
  return origin === server.origin && pathname.startsWith(prefix)
}
