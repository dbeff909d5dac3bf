import { invalid } from '../../../kernel/errors.ts'

/** What a connection string says, in the fields of a record. */
export type ConnectionParts = {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly db: string
  readonly password?: string
  /** `metadata.ssl` */
  readonly ssl?: string
}

const path = 'body/connectionString'
const form = 'must be postgres://user:password@host:port/database, with ?sslmode=… at most'
const sslModes = ['disable', 'require', 'verify-full']

/**
 * Takes a connection string apart, so that only its parts are stored and no driver ever reads it: drivers take files,
 * sockets and several hosts from such strings. No message repeats it, because it holds a password.
 */
export function readConnectionString(text: string): ConnectionParts {
  const url = URL.parse(text)
  if (!url || !/^postgres(ql)?:$/.test(url.protocol) || url.hash !== '') throw invalid(path, form)
  const db = decoded(url.pathname.slice(1))
  const user = decoded(url.username)
  const host = decoded(url.hostname).replace(/^\[(.*)\]$/, '$1')
  if (db === '' || user === '' || host === '') throw invalid(path, form)
  const password = decoded(url.password)
  return {
    host,
    port: url.port === '' ? 5432 : Number(url.port),
    user,
    db,
    ...(password !== '' && { password }),
    ...sslOf(url.searchParams),
  }
}

function sslOf(parameters: URLSearchParams): Pick<ConnectionParts, 'ssl'> {
  const names = [...parameters.keys()]
  if (names.some((name) => name !== 'sslmode') || names.length > 1) {
    throw invalid(path, 'must have no parameter except sslmode')
  }
  const ssl = parameters.get('sslmode')
  if (ssl === null) return {}
  if (!sslModes.includes(ssl)) throw invalid(path, `sslmode must be one of ${sslModes.join(', ')}`)
  return { ssl }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalid(path, 'has a percent sign that is not followed by two hexadecimal digits')
  }
}
