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
 * What every answer says, an error too. Answers are data: nothing in them may load or run anything. They are for pages of
 * every origin, because a key decides who may have them. Always the same, so no plugin works them out for each answer.
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
 * A year of https only, said on answers that came by https. Subdomains are somebody else's unless the operator says so.
 */
export const hstsHeader = (includesSubDomains: boolean): string =>
  includesSubDomains ? 'max-age=31536000; includeSubDomains' : 'max-age=31536000'

/** What a browser asks before it sends a request of another origin; the same for every address. */
export const preflightHeaders = {
  'access-control-allow-methods': methods.join(', '),
  'access-control-allow-headers': allowedHeaders.join(', '),
  'access-control-max-age': '86400',
}
