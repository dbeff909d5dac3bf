import { isIPv4 } from 'node:net'
import { invalid } from '../../../kernel/errors.ts'

const wellKnown = '/.well-known/openid-configuration'

/** Refuses what is no issuer (OpenID Connect Discovery 1.0): an https address without query, or http on this machine. */
export function checkIssuer(text: string, path: string): void {
  const url = URL.parse(text)
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))) {
    throw invalid(path, 'must be an address that begins with https://')
  }
  if (/[?#\s\\]/.test(text) || url.username || url.password) {
    throw invalid(path, 'must have no query, no fragment, no blanks and no user name')
  }
  if (text.includes(wellKnown)) throw invalid(path, `must end before ${wellKnown}`)
}

/** Without TLS, which is for trying on one machine. */
export const isInsecure = (issuer: string): boolean => issuer.startsWith('http:')

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'))
