import { createLoadingCache } from '../../kernel/concurrency/loading-cache.ts'
import type { Db, Row } from '../../kernel/db/db.ts'
import { raw, sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Connection } from '../../query/execution/connection.ts'
import type { DatabaseDriver, DatabaseRecord, DriverServices, OpenDatabase, StartedDriver } from './driver.ts'
import { drivers } from './drivers.ts'

export type Connections = {
  /** The database with this id in this application, or its default one, as it was within the last second. */
  find(applicationId: string, id: string | undefined): Promise<DatabaseRecord | undefined>
  /** As it is now. */
  lookUp(applicationId: string, id: string | undefined): Promise<DatabaseRecord | undefined>
  open(record: DatabaseRecord): Promise<Connection>
  /** Connects for this work alone: for a record that is stored nowhere. */
  tryOut<T>(record: DatabaseRecord, work: (connection: Connection) => Promise<T>): Promise<T>
  /** The application's schema in the platform's database, also where no record of its databases leads there. */
  openPlatform(applicationId: string): Promise<Connection>
  /** Where tables can be made, with our rights in our own database and with those of its user in any other. */
  writable(record: DatabaseRecord): Promise<{ db: Db; schema: string }>
  close(): Promise<void>
}

const maxOpen = 200

/** The driver needs to know nothing but the application. */
const platformRecord = {
  id: '',
  revision: '',
  type: 'internal' satisfies keyof typeof drivers,
  host: '',
  port: 0,
  user: '',
  password: null,
  db: '',
  metadata: {},
}

/** One connection, mostly a pool, for each database in use; the one not used for longest is closed when there are too many. */
export function createConnections(services: DriverServices): Connections {
  const started = new Map(
    Object.entries<DatabaseDriver>(drivers).map(([name, driver]): [string, StartedDriver] => [
      name,
      driver.start(services),
    ]),
  )
  const open = new Map<string, Promise<OpenDatabase>>()
  const records = createLoadingCache<DatabaseRecord | undefined>({ keeps: (record) => record !== undefined })

  async function evict(): Promise<void> {
    const [oldest] = open
    if (!oldest || open.size <= maxOpen) return
    open.delete(oldest[0])
    await close(oldest[1])
  }
  const close = async (entry: Promise<OpenDatabase>) => (await entry.catch(() => undefined))?.close()

  function driverFor({ type }: DatabaseRecord): StartedDriver {
    const driver = started.get(type)
    if (!driver) throw new ApiError('unavailable', `This server has no driver for databases of type ${type}.`)
    return driver
  }

  async function opened(record: DatabaseRecord): Promise<OpenDatabase> {
    const driver = driverFor(record)
    const key = `${record.type} ${driver.keyOf(record)}`
    const entry = open.get(key) ?? driver.connect(record)
    open.delete(key)
    open.set(key, entry)
    entry.catch(() => open.delete(key))
    await evict()
    return entry
  }

  return {
    find: (applicationId, id) =>
      records.get(`${applicationId} ${id}`, () => findDatabase(services.db, applicationId, id)),
    lookUp: (applicationId, id) => findDatabase(services.db, applicationId, id),
    open: async (record) => (await opened(record)).connection,
    async tryOut(record, work) {
      const { connection, close } = await driverFor(record).connect(record)
      try {
        return await work(connection)
      } finally {
        await close()
      }
    },
    openPlatform: async (applicationId) => (await opened({ ...platformRecord, applicationId })).connection,
    async writable(record) {
      const { writable } = await opened(record)
      if (writable) return writable
      throw new ApiError(
        'invalid_request',
        `A database of type ${record.type} is only read. Upload into another database of this application.`,
      )
    },
    close: async () => {
      await Promise.all([...open.values()].map(close))
      open.clear()
      await Promise.all([...started.values()].map((driver) => driver.close()))
    },
  }
}

async function findDatabase(
  db: Db,
  applicationId: string,
  id: string | undefined,
): Promise<DatabaseRecord | undefined> {
  const wanted = id === undefined ? raw('"default"') : sql`id = ${id}::uuid`
  const [row] = await db.query<Row & DatabaseRecord>(sql`
    SELECT id, application_id AS "applicationId", revision, type, host, port, "user", password, db, metadata
    FROM svc.databases WHERE application_id = ${applicationId}::uuid AND ${wanted}`)
  return row && { ...row, revision: String(row.revision) }
}
