import { isIPv4 } from 'node:net'
import { invalid } from '../../kernel/errors.ts'
import type { AuthSettings } from './accounts.ts'

const maxLength = 2_048

/**
 * Open redirect guard for links in mails and redirects of browsers: allows what the application lists, as an exact URL
 * without its query or as `…/prefix/*`; without a list, the service's own origin and localhost.
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

/** The target of a confirmation link: an allowed URL, or the service's own operation. */
export function readConfirmUrl(text: string, settings: AuthSettings, baseUrl: string): URL {
  const url = readUrl(text)
  const isDefaultPage = url !== undefined && url.origin + url.pathname === new URL(`${baseUrl}${confirmPath}`).href
  return isDefaultPage ? url : readRedirect(text, 'confirmUrl', settings, baseUrl)
}

export const confirmPath = '/api/v1/auth/confirmsignup'

/** Refuses backslashes, control characters and user names, which browsers parse differently and no honest URL needs. */
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
  // A server could decode an encoded dot or slash and leave the prefix.
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
