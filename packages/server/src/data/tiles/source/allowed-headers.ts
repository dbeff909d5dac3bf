// Allow-list of the headers that a tile source may set.
import { invalid } from '../../../kernel/errors.ts'

/** Caching headers and custom ones. */
const allowed = /^(cache-control|expires|surrogate-control|surrogate-key|x-[a-z0-9-]{1,100})$/
/** Headers that the service sets or proxies interpret. */
const reserved =
  /^x-(api-key|svc-.*|request-id|tile-features|total-count|accel-.*|sendfile|forwarded-.*|real-ip|frame-options|content-type-options|permitted-.*|dns-.*|download-options|xss-protection)$/
const maxHeaders = 20

/** Throws a 400 for a header that could change an answer's meaning or split the response. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const names = Object.keys(headers)
  if (names.length > maxHeaders) throw invalid('body/headers', `must not have more than ${maxHeaders} headers`)
  for (const name of names) {
    const path = `body/headers/${name.slice(0, 100)}`
    const lower = name.toLowerCase()
    if (!allowed.test(lower) || reserved.test(lower)) {
      throw invalid(path, 'must not be set. Allowed: cache-control, expires, surrogate-control, surrogate-key and x-….')
    }
    if (!/^[\t\x20-\x7e]{0,1000}$/.test(headers[name] ?? '')) {
      throw invalid(path, 'must be at most 1000 printable ASCII characters')
    }
  }
}
