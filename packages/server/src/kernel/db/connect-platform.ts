/** Connecting to the platform's own PostgreSQL: which of its hosts, with TLS or without, and as which kind of session. */
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import pg from 'pg'
import type { PlatformServer, ServerAddress } from '../libpq/platform-server.ts'
import { encryptionsOf, tlsOptions } from '../libpq/tls.ts'
import { codeOf, isConnectionFailure } from './database-error.ts'

/** One way to the server. */
type Route = { readonly address: ServerAddress; readonly isEncrypted: boolean }

/** Time-out for connect, login and session settings together, of each route. */
export const connectMs = 5_000

/** The route that worked last is tried first, so that a host that is down costs one connection and not every one. */
const lastRoutes = new WeakMap<PlatformServer, Route>()

/** Tries the hosts in turn. One that refuses the role or its password refuses it for all, as with libpq. */
export async function connectPlatform(
  server: PlatformServer,
  config: pg.ClientConfig,
  prepare: (client: pg.Client) => Promise<unknown> = async () => {},
): Promise<pg.Client> {
  const routes = routesOf(server)
  let failure: unknown
  for (const [index, route] of routes.entries()) {
    if (index > 0 && !mayTry(route, routes[index - 1], failure)) continue
    try {
      const client = await connectRoute(server, route, config, prepare)
      lastRoutes.set(server, route)
      return client
    } catch (error) {
      // That it has no TLS either says less than why it refused the login.
      if (failure === undefined || !isNoTls(error)) failure = error
    }
  }
  throw failure
}

function routesOf(server: PlatformServer): Route[] {
  const routes = server.addresses.flatMap((address) => {
    const encryptions = address.host.startsWith('/') ? [false] : encryptionsOf(server.tls)
    return encryptions.map((isEncrypted): Route => ({ address, isEncrypted }))
  })
  const last = lastRoutes.get(server)
  if (!last) return routes
  const isLast = ({ address, isEncrypted }: Route) => address === last.address && isEncrypted === last.isEncrypted
  return [...routes.filter(isLast), ...routes.filter((route) => !isLast(route))]
}

/** `28000` is what pg_hba.conf answers, which may demand TLS or its absence. */
function mayTry(route: Route, previous: Route | undefined, failure: unknown): boolean {
  if (route.address !== previous?.address) return isConnectionFailure(failure)
  return codeOf(failure) === '28000' || isNoTls(failure)
}

/** By the driver's words. */
const isNoTls = (error: unknown): boolean =>
  error instanceof Error && error.message === 'The server does not support SSL connections'

async function connectRoute(
  server: PlatformServer,
  { address, isEncrypted }: Route,
  config: pg.ClientConfig,
  prepare: (client: pg.Client) => Promise<unknown>,
): Promise<pg.Client> {
  const client = new pg.Client({
    ...config,
    host: address.address ?? address.host,
    port: address.port,
    user: server.user,
    database: server.database,
    ssl: isEncrypted && tlsOptions(server.tls, serverNameOf(address)),
    // TLS reads from a socket in its own way.
    ...(isEncrypted && { stream: undefined }),
    ...(isEncrypted && server.tls.isDirect && { sslnegotiation: 'direct' as const }),
    ...(server.applicationName && { application_name: server.applicationName }),
    ...(server.options && { options: server.options }),
    enableChannelBinding: isEncrypted && server.channelBinding !== 'disable',
    password: passwordOf(server, address, () => offersBinding),
  } as pg.ClientConfig)
  client.on('error', () => {})
  let offersBinding = false
  connectionOf(client).on('authenticationSASL', ({ mechanisms }) => {
    offersBinding = isEncrypted && mechanisms.includes('SCRAM-SHA-256-PLUS')
  })
  return connectWithin(client, server.connectMs ?? connectMs, async () => {
    await client.connect()
    await demandSession(client, server.sessions)
    await prepare(client)
  })
}

/** The client when `work` has connected it; its socket is closed when that fails or takes longer. */
export async function connectWithin(client: pg.Client, ms: number, work: () => Promise<void>): Promise<pg.Client> {
  const timer = setTimeout(() => streamOf(client).destroy(new Error('timeout expired')), ms)
  try {
    await work()
    return client
  } catch (error) {
    streamOf(client).destroy()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** A function, because the driver takes an empty password for a missing one and looks for others. */
const passwordOf = (server: PlatformServer, address: ServerAddress, isBound: () => boolean) => (): string => {
  const password = server.password ?? address.password
  if (server.channelBinding === 'require' && !isBound())
    throw new Error('channel_binding=require: the server offers no channel binding')
  if (password === undefined)
    throw new Error(`the server asks for a password of the role ${server.user}, and there is none`)
  return password
}

/** An address is no server name (RFC 6066); the driver checks the certificate against the address then. */
const serverNameOf = ({ host }: ServerAddress): string | undefined => (isIP(host) === 0 ? host : undefined)

async function demandSession(client: pg.Client, sessions: PlatformServer['sessions']): Promise<void> {
  if (sessions === 'any') return
  const { rows } = await client.query<{ standby: string; readonly: string }>(
    `SELECT pg_is_in_recovery()::text AS standby, current_setting('transaction_read_only') AS readonly`,
  )
  const isRight = rows[0]?.standby === 'false' && (sessions === 'primary' || rows[0].readonly === 'off')
  // A code of class 08, a connection failure: the next host is tried.
  if (!isRight) throw Object.assign(new Error(`target_session_attrs=${sessions}: the server is not`), { code: '08004' })
}

type WireConnection = {
  readonly stream: Duplex
  on(event: 'authenticationSASL', listener: (message: { mechanisms: string[] }) => void): void
}

const connectionOf = (client: pg.Client): WireConnection =>
  (client as unknown as { connection: WireConnection }).connection

export const streamOf = (client: pg.Client): Duplex => connectionOf(client).stream
