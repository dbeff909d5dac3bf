import { keyHeaders } from '../access/credentials.ts'

export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'] as const

const exposedHeaders = [
  ...['Content-Disposition', 'ETag', 'Link', 'Location', 'Mcp-Session-Id', 'RateLimit', 'Retry-After'],
  ...['WWW-Authenticate', 'X-Invocation-Id', 'X-Request-Id', 'X-Tile-Features', 'X-Total-Count'],
]
const allowedHeaders = [
  ...keyHeaders,
  ...['Accept', 'Authentication', 'Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'If-None-Match'],
  ...['Last-Event-ID', 'Mcp-Method', 'Mcp-Name', 'Mcp-Protocol-Version', 'Mcp-Session-Id', 'Prefer', 'Range'],
  ...['Traceparent', 'Tracestate', 'X-Application-Id', 'X-Request-Id'],
]

/**
 * The security and CORS headers of every answer, errors too. Answers are data, so nothing in them may load or run anything.
 * Pages of every origin may read them, because the key decides who may. They are constant, so no plugin computes them.
 */
export const commonHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': exposedHeaders.join(', '),
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
}

/**
 * HSTS for a year, sent over https only. Subdomains may belong to others, so they are included only if the operator says so.
 */
export const hstsHeader = (includesSubDomains: boolean): string =>
  includesSubDomains ? 'max-age=31536000; includeSubDomains' : 'max-age=31536000'

/** The answer to a CORS preflight, the same for every path. */
export const preflightHeaders = {
  'access-control-allow-methods': methods.join(', '),
  'access-control-allow-headers': allowedHeaders.join(', '),
  'access-control-max-age': '86400',
}
