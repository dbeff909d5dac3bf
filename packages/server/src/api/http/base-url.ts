import { isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'

/**
 * The address that the client uses, without a slash at its end: as configured, or as a trusted proxy says. Otherwise it
 * is where the request really arrived: what the Host header claims would let one client choose the addresses in
 * another's answer. Only that this very machine is meant can be believed.
 */
export function baseUrlOf(request: FastifyRequest, configured: string | undefined, trustsProxy: boolean): string {
  if (configured) return configured.replace(/\/+$/, '')
  const { socket, headers } = request.raw
  if (trustsProxy && isProxied(request)) return `${request.protocol}://${request.host}`
  if (/^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/.test(headers.host ?? '')) return `http://${headers.host}`
  const address = socket.localAddress?.replace(/^::ffff:/, '') ?? '127.0.0.1'
  return `http://${isIPv6(address) ? `[${address}]` : address}:${socket.localPort ?? 80}`
}

/** Whether whoever sent this is trusted. The framework keeps that to itself, but believes a made-up host only then. */
function isProxied(request: FastifyRequest): boolean {
  if (!request.headers['x-forwarded-host']) return false
  const madeUp: FastifyRequest = Object.create(request, { headers: { value: { 'x-forwarded-host': 'made-up' } } })
  return madeUp.host === 'made-up'
}
