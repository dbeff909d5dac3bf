/**
 * Connection strings as libpq reads them: a URI (`postgres://user@host,host2/db?keyword=value`), or `keyword=value` pairs.
 *
 * `new URL` is no use for them: it refuses an empty host, several hosts and keyword/value pairs. No message repeats the text,
 * because it holds a password.
 */
import { StartError } from '../errors.ts'

export type Keywords = ReadonlyMap<string, string>

export function readKeywords(text: string): Keywords {
  const uri = /^postgres(?:ql)?:\/\/(.*)$/s.exec(text)
  if (uri) return readUri(uri[1] ?? '')
  if (/^\w+:\/\//.test(text) || !text.includes('=')) throw wrong(forms)
  return readPairs(text)
}

export const wrong = (reason: string): StartError => new StartError(`DATABASE_URL ${reason}`)

const forms =
  'must be postgres://user:password@host:port/database, or pairs such as host=/run/postgresql dbname=graticule user=graticule'

/** What follows `postgres://`. */
function readUri(text: string): Keywords {
  const userinfo = /^[^/@]*@(?:[^/?@]*@)?/.exec(text)?.[0] ?? ''
  const rest = text.slice(userinfo.length)
  const [, hosts = '', , path, query] = /^([^/?]*)(\/([^?]*))?(?:\?(.*))?$/s.exec(rest) ?? []
  const keywords = new Map([
    ...readUserinfo(userinfo.slice(0, -1)),
    ...readHosts(hosts),
    ...(path ? [['dbname', decoded(path)] as const] : []),
  ])
  for (const [name, value] of readParameters(query ?? '')) keywords.set(name, value)
  return keywords
}

function readUserinfo(text: string): [string, string][] {
  const colon = text.indexOf(':')
  const user = colon === -1 ? text : text.slice(0, colon)
  const password = colon === -1 ? '' : text.slice(colon + 1)
  return [
    ...(user === '' ? [] : [['user', decoded(user)] as [string, string]]),
    ...(password === '' ? [] : [['password', decoded(password)] as [string, string]]),
  ]
}

/** `a:5432,[fd00::1],%2Frun%2Fpostgresql` */
function readHosts(text: string): [string, string][] {
  if (text === '') return []
  const hosts: string[] = []
  const ports: string[] = []
  for (const one of text.split(',')) {
    const [, bracketed, plain, port = ''] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d*))?$/.exec(one) ?? wrongHost()
    hosts.push(decoded(bracketed ?? plain ?? ''))
    ports.push(port)
  }
  const hasPort = ports.some((port) => port !== '')
  return [...(hosts.join('') === '' ? [] : [['host', hosts.join(',')] as [string, string]]), ...portsOf(hasPort, ports)]
}

const portsOf = (hasPort: boolean, ports: readonly string[]): [string, string][] =>
  hasPort ? [['port', ports.join(',')]] : []

function wrongHost(): never {
  throw wrong('has a host that cannot be read. An IPv6 address stands in brackets: postgres://[fd00::1]:5432/database.')
}

function readParameters(query: string): [string, string][] {
  if (query === '') return []
  return query.split('&').map((pair) => {
    const equals = pair.indexOf('=')
    if (equals < 1) throw wrong('has a parameter without a value behind its question mark.')
    return [decoded(pair.slice(0, equals)), decoded(pair.slice(equals + 1))]
  })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw wrong('has a percent sign that is not followed by two hexadecimal digits. Write % as %25.')
  }
}

/** `host = a password='it''s'`: libpq escapes with a backslash, inside of quotes and outside. */
function readPairs(text: string): Keywords {
  const pair = /\s*([^\s=]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s'\\]|\\.)(?:[^\s\\]|\\.)*)?)(?=\s|$)/gsy
  const keywords = new Map<string, string>()
  const end = text.trimEnd().length
  while (pair.lastIndex < end) {
    const match = pair.exec(text)
    if (!match) throw wrong(`cannot be read as pairs of keyword=value. A value with spaces stands in single quotes.`)
    keywords.set(match[1] ?? '', (match[2] ?? match[3] ?? '').replaceAll(/\\(.)/gs, '$1'))
  }
  return keywords
}
