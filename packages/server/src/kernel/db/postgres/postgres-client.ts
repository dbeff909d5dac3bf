import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ConnectionOptions } from 'node:tls'
import pg from 'pg'
import type { PlatformServer } from '../../libpq/platform-server.ts'
import { connectMs, connectPlatform, connectWithin, streamOf } from '../connect-platform.ts'
import type { PoolKey } from '../connection-pool.ts'
import { isConnectionFailure, isExternalServerFault } from '../database-error.ts'
import { relayedSocket } from '../wire/relay.ts'

/** The platform's own server, or one that somebody else named. */
export type PostgresServer =
  | { readonly platform: PlatformServer }
  | {
      readonly host: string
      readonly port: number
      readonly user: string
      readonly password: string
      readonly database: string
      readonly ssl?: ConnectionOptions | false
      /** Who chose it: its connections to all its servers count together. */
      readonly owner: string
      /** The definition that it comes from: two definitions share no connections, even if they say the same. */
      readonly definition: string
    }

/**
 * So that values have one text form, and a cursor's plan is made for all its rows and not for the first tenth. Compiling
 * a query to machine code costs more than it saves on the queries that are asked here.
 */
const sessionSettings = `
  SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET IntervalStyle = 'postgres'; SET bytea_output = 'hex';
  SET extra_float_digits = 1; SET cursor_tuple_fraction = 1; SET idle_in_transaction_session_timeout = '60s'; SET jit = off`

/** `settings` are statements that the session begins with, besides the usual ones. */
export async function prepareSession(client: pg.ClientBase, settings = ''): Promise<void> {
  await client.query(`${sessionSettings};${settings}`)
  // Ends the query of a client that was killed, and one whose cancel request overtook it. Not every platform PostgreSQL runs
  // on has it.
  await client.query(`SET client_connection_check_interval = '1s'`).catch((error) => {
    if (isConnectionFailure(error) || isExternalServerFault(error)) throw error
  })
}

/** A healthy server closes after Terminate. */
const lingerMs = 1_000

/** Where its connections are kept. */
export function poolKeyOf(server: PostgresServer): PoolKey {
  const key = JSON.stringify(server)
  return { key, owner: 'platform' in server ? key : server.owner }
}

const asReceived = (text: string): string => text

/**
 * Connects and prepares the session, all of it in time. A server that comes as parts is external: it is spoken to through
 * a socket that lets only well-formed messages pass, and it gets no password but its own (pg would take an empty one
 * for a missing one and look for PGPASSWORD and ~/.pgpass).
 */
export async function connectClient(
  server: PostgresServer,
  name: string,
  prepare: (client: pg.Client) => Promise<unknown>,
  openSocket: (tls: ConnectionOptions | false) => Duplex = relayedSocket,
  own: Pick<pg.ClientConfig, 'stream'> = {},
): Promise<pg.Client> {
  const config: pg.ClientConfig = {
    ...own,
    application_name: name,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser: () => asReceived },
  }
  if ('platform' in server) return connectPlatform(server.platform, config, prepare)
  const client = new pg.Client({ ...config, ...externalConfig(server, openSocket) })
  forgetOptions(client)
  client.on('error', () => {})
  return connectWithin(client, connectMs, async () => {
    await client.connect().catch((error) => {
      throw externalLoginError(error)
    })
    await prepare(client)
  })
}

/** The driver takes PGOPTIONS, which are for the platform's server, where none are given. */
function forgetOptions(client: pg.Client): void {
  const { connectionParameters } = client as unknown as { connectionParameters: { options: string | undefined } }
  connectionParameters.options = undefined
}

function externalConfig(
  { host, port, user, database, password, ssl = false }: Exclude<PostgresServer, { platform: PlatformServer }>,
  openSocket: (tls: ConnectionOptions | false) => Duplex,
): pg.ClientConfig {
  return { host, port, user, database, password: () => password, ssl: false, stream: () => openSocket(ssl) }
}

/**
 * What is no PostgreSQL server counts as one that cannot be reached: which words it says instead is not the tenant's to
 * learn, for the address may be anybody's. The server's own refusals have a code, and what is wrong with TLS has words.
 */
function externalLoginError(error: unknown): unknown {
  if (!(error instanceof Error) || /SSL/.test(error.message)) return error
  if ('code' in error && !isExternalServerFault(error)) return error
  return new Error('Connection terminated before the login was complete', { cause: error })
}

/** Sends Terminate, and does not wait long for the end. */
export function hangUp(client: pg.Client, isBroken: boolean): void {
  const stream = streamOf(client)
  if (isBroken) return void stream.destroy()
  const timer = setTimeout(() => stream.destroy(), lingerMs).unref()
  client.end().then(
    () => clearTimeout(timer),
    () => stream.destroy(),
  )
}

/**
 * Asks the server to end what the connection is doing. The request goes over a connection of its own, needs no login
 * and no free slot. It may arrive late, so the connection must not be used for anything else afterwards.
 */
export function cancelStatement(client: pg.ClientBase): void {
  const { processID, secretKey, host, port } = client as pg.Client & {
    processID: number | null
    secretKey: number | null
  }
  if (processID === null || secretKey === null) return
  const request = Buffer.alloc(16)
  request.writeInt32BE(16, 0)
  request.writeInt32BE(80_877_102, 4)
  request.writeInt32BE(processID, 8)
  request.writeInt32BE(secretKey, 12)
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
  socket.setTimeout(3000, () => socket.destroy())
  // If the request cannot be sent, the check interval of the session ends the statement a second later.
  socket.on('error', () => {})
  socket.end(request)
}
