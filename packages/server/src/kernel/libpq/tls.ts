/** TLS to the platform's PostgreSQL, with libpq's modes and their meaning. */
import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { type Keywords, wrong } from './keywords.ts'

const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

/** Plain values, because a tile thread gets them by message. */
export type TlsSettings = {
  readonly mode: (typeof modes)[number]
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly isDirect?: true
  readonly minVersion?: Version
  readonly maxVersion?: Version
}

const versions = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const
type Version = (typeof versions)[number]

/**
 * Without `sslmode` it is `allow`: unencrypted as ever, and TLS where the server demands it. libpq would prefer TLS, which costs
 * every connection to a database on the same machine something and protects from nobody who can change what is sent.
 */
export function readTls(keywords: Keywords): TlsSettings {
  const mode = modeOf(keywords)
  const root = keywords.get('sslrootcert')
  if (mode === 'verify-ca' && (root === undefined || root === 'system'))
    throw wrong('has sslmode=verify-ca, which needs sslrootcert with a file; verify-full also checks the host name.')
  if (root === 'system' && mode !== 'verify-full')
    throw wrong('has sslrootcert=system, which needs sslmode=verify-full.')
  const isDirect = oneOf(keywords, 'sslnegotiation', ['postgres', 'direct'] as const) === 'direct'
  if (isDirect && !['require', 'verify-ca', 'verify-full'].includes(mode))
    throw wrong('has sslnegotiation=direct, which needs sslmode=require, verify-ca or verify-full.')
  const minVersion = oneOf(keywords, 'ssl_min_protocol_version', versions)
  const maxVersion = oneOf(keywords, 'ssl_max_protocol_version', versions)
  return {
    mode,
    ...(root !== undefined && root !== 'system' && { ca: fileOf('sslrootcert', root) }),
    ...readIdentity(keywords),
    ...(isDirect && { isDirect: true as const }),
    ...(minVersion && { minVersion }),
    ...(maxVersion && { maxVersion }),
  }
}

function readIdentity(keywords: Keywords): Pick<TlsSettings, 'cert' | 'key'> {
  const [cert, key] = [keywords.get('sslcert'), keywords.get('sslkey')]
  if ((cert === undefined) !== (key === undefined))
    throw wrong('must have both of sslcert and sslkey, or none of them.')
  return cert === undefined || key === undefined ? {} : { cert: fileOf('sslcert', cert), key: fileOf('sslkey', key) }
}

/** `ssl=true` is JDBC's word, which libpq takes too. */
function modeOf(keywords: Keywords): TlsSettings['mode'] {
  const ssl = keywords.get('ssl')
  const mode = oneOf(keywords, 'sslmode', modes)
  if (mode) return mode
  if (ssl !== undefined && ssl !== 'true' && ssl !== '1') throw wrong('has ssl, which may only be true. Use sslmode.')
  if (ssl !== undefined) return 'require'
  return keywords.has('sslrootcert') ? 'verify-full' : 'allow'
}

export function oneOf<T extends string>(keywords: Keywords, name: string, allowed: readonly T[]): T | undefined {
  const value = keywords.get(name)
  if (value === undefined || value === '') return undefined
  const choice = allowed.find((one) => one === value)
  if (choice === undefined) throw wrong(`has a ${name} that is not known. It may be ${allowed.join(', ')}.`)
  return choice
}

function fileOf(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw wrong(`names the file ${path} as ${name}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** In which order a host is tried: with TLS, and without. */
export const encryptionsOf = ({ mode }: TlsSettings): readonly boolean[] =>
  ({ disable: [false], allow: [false, true], prefer: [true, false] })[mode as string] ?? [true]

/** For the connection to one host. `require` with an authority checks the certificate as `verify-ca` does. */
export function tlsOptions(tls: TlsSettings, serverName: string | undefined): ConnectionOptions {
  const { mode, ca, cert, key, minVersion, maxVersion } = tls
  const checksName = mode === 'verify-full'
  const checksChain = checksName || (ca !== undefined && (mode === 'require' || mode === 'verify-ca'))
  return {
    rejectUnauthorized: checksChain,
    ...(!checksName && { checkServerIdentity: () => undefined }),
    ...(serverName !== undefined && { servername: serverName }),
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert, key }),
    ...(minVersion && { minVersion }),
    ...(maxVersion && { maxVersion }),
  }
}
