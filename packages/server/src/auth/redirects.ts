import { isIPv4 } from 'node:net'
import { invalid } from '../errors.ts'
import type { AuthSettings } from './accounts.ts'

const maxLength = 2_048

/**
 * May mail lead there, and browsers be sent there? Only to what the application lists, as an exact address without its
 * query or as `…/prefix/*`; while it lists nothing, to the service's own origin and to this very machine.
 */
export function isAllowedRedirect(text: string, { redirectUrls }: AuthSettings, baseUrl: string): boolean {
  const url = readUrl(text)
  if (!url) return false
  const listed = Array.isArray(redirectUrls) ? redirectUrls.filter((entry) => typeof entry === 'string') : []
  if (listed.length === 0) return url.origin === new URL(baseUrl).origin || isLoopback(url.hostname)
  return listed.some((entry) => fits(url, entry))
}

/** The address, or a 400 that names the field. */
export function readRedirect(text: string, field: string, settings: AuthSettings, baseUrl: string): URL {
  if (!isAllowedRedirect(text, settings, baseUrl)) {
    throw invalid(`body/${field}`, 'must be an address that metadata.auth.redirectUrls of the application allows')
  }
  return new URL(text)
}

/** Where the link of a confirmation leads: an allowed address, or always the service's own operation that confirms. */
export function readConfirmUrl(text: string, settings: AuthSettings, baseUrl: string): URL {
  const url = readUrl(text)
  const isOwn = url !== undefined && url.origin + url.pathname === new URL(`${baseUrl}${confirmPath}`).href
  return isOwn ? url : readRedirect(text, 'confirmUrl', settings, baseUrl)
}

export const confirmPath = '/api/v1/auth/confirmsignup'

/** Browsers read backslashes and control characters in ways of their own; nothing honest needs them, nor a user name. */
function readUrl(text: string): URL | undefined {
  if (text.length > maxLength || !/^https?:\/\/[^/\\?#@]+(?:[/?#][^\\]*)?$/i.test(text)) return undefined
  if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.username || url.password ? undefined : url
}

function fits(url: URL, entry: string): boolean {
  const isPrefix = entry.endsWith('/*')
  const allowed = readUrl(isPrefix ? entry.slice(0, -1) : entry)
  if (!allowed || allowed.origin !== url.origin) return false
  // An encoded dot or slash could be undone by whoever serves the page, and lead out of the prefix.
  if (isPrefix) return url.pathname.startsWith(allowed.pathname) && !/%2e|%2f|%5c/i.test(url.pathname)
  return url.pathname === allowed.pathname
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'))
}

/** The address with these parameters added. */
export function withParameters(url: URL, parameters: Record<string, string>): string {
  const link = new URL(url)
  for (const [name, value] of Object.entries(parameters)) link.searchParams.set(name, value)
  return link.href
}
