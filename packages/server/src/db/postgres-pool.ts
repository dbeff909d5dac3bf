import { connect } from 'node:net'
import pg from 'pg'
import { isConnectionFailure, unavailable } from './database-error.ts'

/** A pooled connection in use. Giving it back twice does nothing; a broken one is closed, not reused. */
export type Lease = { readonly client: pg.PoolClient; giveBack(broken: boolean): void }

export type LeasePool = {
  /**
   * Leases a connection and does the first thing on it. A connection found dead is replaced by a fresh one, once, when
   * `repeatable` says that doing the first thing twice is harmless. On failure the lease is given back.
   */
  lease<T>(repeatable: boolean, first: (lease: Lease) => Promise<T>): Promise<{ lease: Lease; value: T }>
  close(): Promise<void>
}

/** A server by its address, or by its parts when they come from somebody else: a connection string can name files. */
export type Server =
  | { readonly url: string }
  | {
      readonly host: string
      readonly port: number
      readonly user: string
      readonly password: string
      readonly database: string
      readonly ssl?: pg.ClientConfig['ssl']
    }

export type PoolOptions = Server & { poolSize: number; onError(error: unknown): void }

/**
 * So that values have one text form, and a cursor's plan is made for all its rows and not for the first tenth. Compiling
 * a query to machine code costs more than it saves on the queries that are asked here.
 */
export const sessionSettings = `
  SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET IntervalStyle = 'postgres'; SET bytea_output = 'hex';
  SET extra_float_digits = 1; SET cursor_tuple_fraction = 1; SET idle_in_transaction_session_timeout = '60s'; SET jit = off`

async function prepareSession(client: pg.ClientBase): Promise<void> {
  await client.query(sessionSettings)
  // Ends the query of a client that was killed. Not every platform PostgreSQL runs on has it.
  await client.query(`SET client_connection_check_interval = '1s'`).catch((error) => {
    if (isConnectionFailure(error)) throw error
  })
}

export function createLeasePool({ poolSize, onError, ...server }: PoolOptions): LeasePool {
  const pool = new pg.Pool({
    ...('url' in server ? { connectionString: server.url } : server),
    max: poolSize,
    connectionTimeoutMillis: 3000,
    idleTimeoutMillis: 30_000,
    application_name: 'graticule',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    onConnect: prepareSession,
    types: { getTypeParser: () => asReceived },
  })
  // Without a listener an idle connection that is closed by the server ends the process.
  pool.on('error', onError)
  const madeAt = new WeakMap<pg.PoolClient, number>()
  pool.on('connect', (client) => madeAt.set(client, performance.now()))
  // Connections older than the last one found dead are probably as dead as that one: a restart ends all of them.
  let suspectBefore = 0

  async function checkOut(): Promise<Lease> {
    for (;;) {
      const client = await pool.connect().catch((error) => {
        throw isConnectionFailure(error) ? unavailable(error) : error
      })
      if ((madeAt.get(client) ?? 0) >= suspectBefore) return createLease(client)
      client.release(true)
    }
  }

  let closing: Promise<void> | undefined
  return {
    async lease(repeatable, first) {
      for (let attempt = 1; ; attempt++) {
        const lease = await checkOut()
        try {
          return { lease, value: await first(lease) }
        } catch (error) {
          const lost = isConnectionFailure(error)
          lease.giveBack(lost)
          if (!lost) throw error
          suspectBefore = performance.now()
          if (attempt > 1 || !repeatable) throw unavailable(error)
        }
      }
    },
    close() {
      closing ??= pool.end()
      return closing
    },
  }
}

const asReceived = (text: string): string => text

function createLease(client: pg.PoolClient): Lease {
  // While a connection is in use the pool does not listen; its statement fails with the same error.
  const ignore = (): void => {}
  client.on('error', ignore)
  let given = false
  return {
    client,
    giveBack(broken) {
      if (given) return
      given = true
      client.removeListener('error', ignore)
      client.release(broken)
    },
  }
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
