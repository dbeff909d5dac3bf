/**
 * The platform's PostgreSQL server, read once from `DATABASE_URL` in every form that libpq reads. Whoever connects, as the
 * platform, as an application or for a tile, and whoever keeps tenants away from it, takes it from here.
 */
import { existsSync } from 'node:fs'
import { isIP } from 'node:net'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { type Environment, readPasswordFile, readService } from './files.ts'
import { type Keywords, readKeywords, wrong } from './keywords.ts'
import { oneOf, readTls, type TlsSettings } from './tls.ts'

export type ServerAddress = {
  /** A name, an address, or the directory of a socket. */
  readonly host: string
  readonly port: number
  /** `hostaddr`: where to connect to, without looking the name up. */
  readonly address?: string
  /** From a password file, which has one for each host. */
  readonly password?: string
}

export type PlatformServer = {
  /** In the order in which they are tried. */
  readonly addresses: readonly ServerAddress[]
  readonly database: string
  readonly user: string
  readonly password?: string
  readonly tls: TlsSettings
  readonly channelBinding: 'disable' | 'prefer' | 'require'
  /** `primary` and `read-write`: others of several hosts are passed over. */
  readonly sessions: 'any' | 'read-write' | 'primary'
  /** For connect and login; undefined: the usual time. */
  readonly connectMs?: number
  readonly applicationName?: string
  /** Settings that each session begins with, as `-c name=value`. */
  readonly options?: string
}

/** Each keyword with the environment variable that stands in for it. What is not here is refused, not ignored. */
const environmentOf: Readonly<Record<string, string | undefined>> = {
  host: 'PGHOST',
  hostaddr: 'PGHOSTADDR',
  port: 'PGPORT',
  dbname: 'PGDATABASE',
  user: 'PGUSER',
  password: 'PGPASSWORD',
  passfile: 'PGPASSFILE',
  service: 'PGSERVICE',
  options: 'PGOPTIONS',
  application_name: 'PGAPPNAME',
  fallback_application_name: undefined,
  connect_timeout: 'PGCONNECT_TIMEOUT',
  client_encoding: 'PGCLIENTENCODING',
  target_session_attrs: 'PGTARGETSESSIONATTRS',
  load_balance_hosts: 'PGLOADBALANCEHOSTS',
  channel_binding: 'PGCHANNELBINDING',
  gssencmode: 'PGGSSENCMODE',
  ssl: undefined,
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  sslnegotiation: 'PGSSLNEGOTIATION',
  ssl_min_protocol_version: 'PGSSLMINPROTOCOLVERSION',
  ssl_max_protocol_version: 'PGSSLMAXPROTOCOLVERSION',
  // Of the driver: what it asks for is so here anyhow.
  uselibpqcompat: undefined,
}

const defaultPort = 5432
/** Debian's, and PostgreSQL's own. */
const socketDirectories = ['/run/postgresql', '/tmp']

export function readPlatformServer(text: string, env: Environment = {}): PlatformServer {
  const keywords = withDefaults(readKeywords(text), env)
  refuseUnknown(keywords)
  const user = keywords.get('user') || userInfo().username
  const database = keywords.get('dbname') || user
  const password = keywords.get('password')
  const passwordFile = keywords.get('passfile') || join(env.HOME ?? homedir(), '.pgpass')
  const applicationName = keywords.get('application_name') || keywords.get('fallback_application_name')
  const options = keywords.get('options')
  const connectMs = connectTime(keywords)
  const addresses = addressesOf(keywords).map((address) =>
    password ? address : withPassword(address, passwordFile, { database, user }),
  )
  return {
    addresses: keywords.get('load_balance_hosts') === 'random' ? shuffled(addresses) : addresses,
    database,
    user,
    ...(password && { password }),
    tls: readTls(keywords),
    channelBinding: oneOf(keywords, 'channel_binding', ['disable', 'prefer', 'require'] as const) ?? 'disable',
    sessions: oneOf(keywords, 'target_session_attrs', ['any', 'read-write', 'primary'] as const) ?? 'any',
    ...(connectMs && { connectMs }),
    ...(applicationName && { applicationName }),
    ...(options && { options }),
  }
}

/** The same server for another of its roles. */
export const asRole = (server: PlatformServer, user: string, password: string): PlatformServer => ({
  ...server,
  user,
  password,
})

/** For messages: where it is, without a password. */
export const describeAddress = ({ host, port }: ServerAddress): string =>
  host.startsWith('/') ? `${host}/.s.PGSQL.${port}` : `${isIP(host) === 6 ? `[${host}]` : host}:${port}`

export const describeServer = ({ addresses }: PlatformServer): string => addresses.map(describeAddress).join(' or ')

/** The string comes first, then the service that it names, then the environment. */
function withDefaults(keywords: Keywords, env: Environment): Keywords {
  const service = keywords.get('service') || env.PGSERVICE
  const fromEnvironment = Object.entries(environmentOf).flatMap(([name, variable]) => {
    const value = variable && env[variable]
    return value ? [[name, value] as const] : []
  })
  return new Map([...fromEnvironment, ...(service ? readService(service, env) : []), ...keywords])
}

function refuseUnknown(keywords: Keywords): void {
  for (const name of keywords.keys()) {
    if (name in environmentOf) continue
    const shown = /^\w{1,40}$/.test(name) ? name : 'a keyword'
    throw wrong(`has ${shown}, which this server does not read. It reads ${Object.keys(environmentOf).join(', ')}.`)
  }
  oneOf(keywords, 'load_balance_hosts', ['disable', 'random'])
  oneOf(keywords, 'gssencmode', ['disable', 'prefer'])
  const encoding = keywords.get('client_encoding')
  if (encoding && !/^(auto|utf-?8|unicode)$/i.test(encoding)) throw wrong('may have no client_encoding but UTF8.')
}

function addressesOf(keywords: Keywords): ServerAddress[] {
  const names = listed(keywords.get('host'))
  const literal = listed(keywords.get('hostaddr'))
  const ports = listed(keywords.get('port'))
  const count = Math.max(names.length, literal.length, 1)
  if (names.length > 0 && literal.length > 0 && names.length !== literal.length)
    throw wrong('must have as many of hostaddr as of host.')
  if (ports.length > 1 && ports.length !== count) throw wrong('must have one port, or as many as hosts.')
  return Array.from({ length: count }, (_, index) => {
    const port = portOf((ports.length > 1 ? ports[index] : ports[0]) || String(defaultPort))
    const address = literal[index] || undefined
    if (address !== undefined && isIP(address) === 0) throw wrong('has a hostaddr that is no address.')
    const host = names[index] || address || defaultHost(port)
    if (host.startsWith('@'))
      throw wrong('names an abstract socket, which Node.js cannot connect to. Name its directory.')
    return { host, port, ...(address !== undefined && { address }) }
  })
}

const listed = (text: string | undefined): string[] => (text ? text.split(',').map((one) => one.trim()) : [])

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535) throw wrong('has a port that is not between 1 and 65535.')
  return port
}

/** libpq takes the socket of the machine; where there is none, what it falls back to elsewhere. */
const defaultHost = (port: number): string =>
  socketDirectories.find((directory) => existsSync(join(directory, `.s.PGSQL.${port}`))) ?? 'localhost'

/** In password files the usual sockets are called localhost. */
function withPassword(address: ServerAddress, file: string, login: { database: string; user: string }): ServerAddress {
  const host = socketDirectories.includes(address.host) ? 'localhost' : address.host
  const password = readPasswordFile(file, { ...login, host, port: address.port })
  return password ? { ...address, password } : address
}

/** Seconds; 0 is libpq's word for no limit, here for the usual one. libpq takes no less than 2. */
function connectTime(keywords: Keywords): number | undefined {
  const text = keywords.get('connect_timeout')
  if (text === undefined || text === '') return undefined
  if (!/^-?\d{1,4}$/.test(text)) throw wrong('has a connect_timeout that is no number of seconds.')
  return Number(text) > 0 ? Math.max(Number(text), 2) * 1000 : undefined
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
