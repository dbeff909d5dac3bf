import { credentialsOf, type Session } from './session.ts'

export interface TransformedRequest {
  url: string
  headers?: Record<string, string>
}

/**
 * MapLibre's transformRequest: adds the current credentials to requests to the client's server. URLs are resolved as a
 * browser does before they are compared, so that credentials go nowhere else. A key in the URL takes precedence.
 */
export function transformRequest(session: Session, url: string): TransformedRequest {
  const address = resolve(url)
  if (!address || !isBelow(new URL(session.url), address) || address.searchParams.has('api-key')) return { url }
  const headers = credentialsOf(session)
  return Object.keys(headers).length === 0 ? { url } : { url, headers }
}

/** Resolves a URL relative to the page; undefined for a relative URL outside a page. */
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
