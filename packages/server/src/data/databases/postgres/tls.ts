import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { codeOf } from '../../../kernel/db/database-error.ts'
import { ApiError, invalid } from '../../../kernel/errors.ts'
import { didYouMean } from '../../../kernel/nearest-name.ts'

const modes = ['disable', 'require', 'verify-full'] as const
type Mode = (typeof modes)[number]

/** What a record says about TLS in its metadata. */
export type TlsChoice = { readonly mode?: Mode; readonly authorities?: readonly string[] }

const certificate = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** `metadata.ssl` and `metadata.sslCa`; what cannot be meant is refused, because a guess might send a password in clear. */
export function readTls({ ssl, sslCa }: Readonly<Record<string, unknown>>, path = 'body/metadata'): TlsChoice {
  const mode = modes.find((name) => name === ssl)
  if (ssl !== undefined && !mode)
    throw invalid(`${path}/ssl`, `must be one of ${modes.join(', ')}.${didYouMean(String(ssl), modes)}`)
  if (sslCa === undefined) return mode ? { mode } : {}
  if (mode && mode !== 'verify-full') throw invalid(`${path}/sslCa`, 'must be given only with ssl: verify-full')
  const authorities = typeof sslCa === 'string' ? (sslCa.match(certificate) ?? []) : []
  // Metadata is shown to whoever may read the record, so no key may come along.
  if (authorities.length === 0 || !authorities.every(isCertificate) || /PRIVATE KEY/.test(String(sslCa))) {
    throw invalid(`${path}/sslCa`, 'must be PEM certificates, without private keys')
  }
  return { mode: 'verify-full', authorities }
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}

/** How a stored record is connected to. What is wrong in the record is not at a place of the request at hand. */
export function tlsOf(
  { host, metadata }: { host: string; metadata: Readonly<Record<string, unknown>> },
  address: string,
): ConnectionOptions | false {
  try {
    return tlsTo(host, address, readTls(metadata, 'metadata'))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const detail = `The database record is not valid: ${error.message.replace(/\.$/, '')}.`
    throw new ApiError('invalid_request', detail, { cause: error })
  }
}

/** The address is the one that was resolved and checked; a certificate is for the host that was named. */
function tlsTo(host: string, address: string, { mode, authorities }: TlsChoice): ConnectionOptions | false {
  const isPublic = !/^(127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|::1$|f[cd])/i.test(address)
  if (mode === 'disable' && isPublic) {
    throw invalid('metadata/ssl', 'must be require or verify-full: disable is only for private addresses')
  }
  const chosen = mode ?? (isPublic ? 'verify-full' : 'disable')
  if (chosen === 'disable') return false
  return {
    // An address is no server name (RFC 6066); the certificate is then checked against the address.
    ...(isIP(host) === 0 && { servername: host }),
    ...(authorities && { ca: [...authorities] }),
    rejectUnauthorized: chosen === 'verify-full',
  }
}

const untrusted =
  /^(ERR_TLS_CERT_|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERROR_IN_CERT|INVALID_|PATH_LENGTH_|HOSTNAME_MISMATCH)/

/** Why TLS with a server is refused, in our words; nothing for any other error. */
export function tlsFault(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const code = codeOf(error)
  if (untrusted.test(code)) {
    return `The certificate of the server is not trusted (${code}); metadata.sslCa may hold its authority.`
  }
  return error.message.startsWith('The server does not support SSL') ? 'The server does not support TLS.' : undefined
}

/** Whatever answered, it did not speak TLS as it should. */
export const isBrokenTls = (error: Error): boolean =>
  error.message.startsWith('There was an error establishing an SSL') || /^(ERR_SSL_|EPROTO$)/.test(codeOf(error))
