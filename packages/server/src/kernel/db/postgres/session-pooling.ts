/**
 * Refuses a pooler that gives each transaction of a session another connection (PgBouncer's `pool_mode = transaction`).
 *
 * Sessions begin with settings (`SET TimeZone`, the search path of tiles) and prepare statements. Behind such a pooler both end up
 * on connections of others: requests fail with "prepared statement already exists", and times are read in another zone.
 */
import type pg from 'pg'
import { StartError } from '../../errors.ts'
import type { PlatformServer } from '../../libpq/platform-server.ts'
import { connectClient, hangUp } from './postgres-client.ts'

/** A pooler may let the second session wait for a connection; then it cannot be told. */
const probeMs = 3_000

export async function refuseTransactionPooling(platform: PlatformServer): Promise<void> {
  const clients: pg.Client[] = []
  const hangUpAll = (isBroken: boolean): void => {
    for (const client of clients) hangUp(client, isBroken)
  }
  const timer = setTimeout(() => hangUpAll(true), probeMs)
  try {
    if (await changesConnections(platform, clients)) {
      throw new StartError(
        'DATABASE_URL leads through a pooler that gives each transaction another connection. ' +
          'Set its pool_mode to session: sessions have settings and prepared statements.',
      )
    }
  } catch (error) {
    // What else is wrong with the database, the migrations say.
    if (error instanceof StartError) throw error
  } finally {
    clearTimeout(timer)
    hangUpAll(false)
  }
}

async function changesConnections(platform: PlatformServer, clients: pg.Client[]): Promise<boolean> {
  const connect = async (): Promise<pg.Client> => {
    const client = await connectClient({ platform }, 'graticule', async () => {})
    clients.push(client)
    return client
  }
  const first = await connect()
  // PostgreSQL says its process at the login; a pooler says a number of its own.
  const { processID } = first as pg.Client & { processID: number | null }
  const before = await processOf(first)
  if (before === `${processID}`) return false
  const second = await connect()
  // Both hold a connection, then give it back: the pooler hands out the one that was given back last, or the one before.
  await first.query('BEGIN')
  const held = await processOf(first)
  await second.query('BEGIN')
  await second.query('SELECT 1')
  await first.query('COMMIT')
  await second.query('COMMIT')
  const later = [await processOf(first), await processOf(first)]
  return [held, ...later].some((process) => process !== before)
}

async function processOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ pid: string }>('SELECT pg_backend_pid() AS pid')
  return rows[0]?.pid ?? ''
}
