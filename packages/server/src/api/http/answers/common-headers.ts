import type { FastifyRequest } from 'fastify'
import { keyHeaders } from '../../access/credentials.ts'

export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'] as const

const exposedHeaders = [
  ...[
    'Accept-Patch',
    'Accept-Post',
    'Allow',
    'Content-Crs',
    'Content-Disposition',
    'ETag',
    'Link',
    'Location',
    'Mcp-Session-Id',
    'OGC-NumberMatched',
  ],
  ...['OGC-NumberReturned', 'RateLimit', 'Retry-After'],
  ...['WWW-Authenticate', 'X-Invocation-Id', 'X-Request-Id', 'X-Tile-Features', 'X-Total-Count'],
]
const allowedHeaders = [
  ...keyHeaders,
  ...[
    'Accept',
    'Authentication',
    'Authorization',
    'Content-Crs',
    'Content-Type',
    'Idempotency-Key',
    'If-Match',
    'If-None-Match',
  ],
  ...['Last-Event-ID', 'Mcp-Method', 'Mcp-Name', 'Mcp-Protocol-Version', 'Mcp-Session-Id', 'Prefer', 'Range'],
  ...['Traceparent', 'Tracestate', 'X-Application-Id', 'X-Request-Id'],
]

/**
 * The security and CORS headers of every answer, errors too. Answers are data, so nothing in them may load or run anything.
 * Pages of every origin may read them, because the key decides who may. They are constant, so no plugin computes them.
 */
const documentHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': exposedHeaders.join(', '),
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
}

/** A tile is no document that could load, frame or link anything, and a map asks for hundreds. */
const tileHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': documentHeaders['access-control-expose-headers'],
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
}

/** The headers that each answer to a request has. */
export type CommonHeaders = (
  request: Pick<FastifyRequest, 'protocol'>,
  isTile?: boolean,
) => Readonly<Record<string, string>>

type Options = {
  /** Subdomains may belong to others, so HSTS includes them only if the operator says so. */
  hstsSubDomains: boolean
  isStopping(): boolean
}

export function createCommonHeaders({ hstsSubDomains, isStopping }: Options): CommonHeaders {
  // For a year, and over https only.
  const hsts = { 'strict-transport-security': `max-age=31536000${hstsSubDomains ? '; includeSubDomains' : ''}` }
  const overHttps = { document: { ...documentHeaders, ...hsts }, tile: { ...tileHeaders, ...hsts } }
  const overHttp = { document: documentHeaders, tile: tileHeaders }
  return ({ protocol }, isTile) => {
    const headers = (protocol === 'https' ? overHttps : overHttp)[isTile ? 'tile' : 'document']
    // Keep-alive connections must not delay a stopping server.
    return isStopping() ? { ...headers, connection: 'close' } : headers
  }
}

/** The answer to a CORS preflight, the same for every path. */
export const preflightHeaders = {
  'access-control-allow-methods': methods.join(', '),
  'access-control-allow-headers': allowedHeaders.join(', '),
  'access-control-max-age': '86400',
}
