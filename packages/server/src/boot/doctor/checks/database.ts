import { statfs } from 'node:fs/promises'
import type pg from 'pg'
import { connectPlatform } from '../../../kernel/db/connect-platform.ts'
import { codeOf } from '../../../kernel/db/database-error.ts'
import { missingMigrations, unknownMigrations } from '../../../kernel/db/schema/migrate.ts'
import { oldestPostgis } from '../../../kernel/db/schema/needs.ts'
import { compileSql, type Sql } from '../../../kernel/db/sql.ts'
import { outdatedFunctions, readFunctions, readTriggers } from '../../../kernel/db/sql-functions.ts'
import { describeAddress, describeServer, type PlatformServer } from '../../../kernel/libpq/platform-server.ts'
import {
  type Check,
  type Database,
  type Finding,
  fault,
  hbaLine,
  isPostgres,
  megabytes,
  messageOf,
  ok,
  warning,
} from '../check.ts'
import { needsOf } from './rights.ts'

const oldestServer = 150_000
const fewestFreeBytes = 1024 ** 3

/** PostgreSQL as a server: reachable, new enough, with PostGIS, room and a right clock. */
export const databaseChecks: readonly Check[] = [
  {
    name: 'database',
    applies: isPostgres,
    async run({ config: { database: server } }) {
      if (!server) return []
      let client: pg.Client | undefined
      try {
        client = await connectPlatform(server, { application_name: 'graticule doctor', query_timeout: 5_000 })
        const { rows } = await client.query(
          'SELECT current_setting($1)::int AS number, current_setting($2) AS version',
          ['server_version_num', 'server_version'],
        )
        const { number, version } = rows[0]
        const { host, port } = client
        const text = `PostgreSQL ${version} at ${describeAddress({ host, port })}, database ${server.database}, as ${server.user}`
        return number < oldestServer ? fault(`${text}: too old.`, 'Upgrade PostgreSQL to 15 or later.') : ok(text)
      } catch (error) {
        return unreachable(error, server)
      } finally {
        void client?.end().catch(() => {})
      }
    },
  },
  {
    name: 'postgis',
    applies: isPostgres,
    async run({ database }) {
      const client = await database()
      if (!client) return []
      const { rows } = await client.query(`
        SELECT default_version AS offered, installed_version AS installed,
          (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS may
        FROM pg_available_extensions WHERE name = 'postgis'`)
      const finding = judgePostgis(rows[0])
      const lacking = finding.level === 'ok' && rows[0].installed ? await needsOf(client, ['postgis']) : []
      return lacking.length > 0 ? lacking : finding
    },
  },
  {
    name: 'migrations',
    applies: isPostgres,
    async run({ database }) {
      const client = await database()
      if (!client) return []
      const reader = { query: <R>(statement: Sql) => queryOf<R>(client, statement) }
      const [unknown] = await unknownMigrations(reader)
      if (unknown !== undefined) {
        return fault(
          `The database is newer than this server: it has the migration ${unknown}.`,
          'Start a newer version of the server; to go back, restore the backup that was made before the upgrade.',
        )
      }
      const missing = await missingMigrations(reader)
      if (missing.length > 0)
        return warning(`${missing.length} migrations are missing, the first is ${missing[0]}.`, 'npm start -- migrate')
      const [outdated] = await outdatedFunctions(reader, await readFunctions())
      if (outdated) return warning(`The function svc.${outdated.name} is not this server's.`, 'npm start -- migrate')
      const idle = (await readTriggers(reader)).find(({ fires }) => !fires)
      if (idle) {
        const mend = `ALTER TABLE svc.${idle.table} ENABLE TRIGGER ${idle.name};`
        return warning(`The trigger ${idle.name} of the table svc.${idle.table} is disabled.`, mend)
      }
      return ok('All migrations are applied.')
    },
  },
  {
    name: 'connections',
    applies: isPostgres,
    async run({ database, config, workers }) {
      const client = await database()
      if (!client) return []
      const { rows } = await client.query(
        `SELECT current_setting('max_connections')::int AS most,
           current_setting('superuser_reserved_connections')::int AS reserved`,
      )
      const pool = Math.max(config.DATABASE_POOL_SIZE, 2 * workers)
      const needed = pool + config.TENANT_CONNECTIONS + config.TILE_CONNECTIONS + 10
      const { most, reserved } = rows[0] as { most: number; reserved: number }
      const text = `max_connections is ${most}; one replica with these settings needs ${needed}.`
      if (most - reserved >= needed - 10 && most >= needed) return ok(text)
      return warning(
        text,
        `ALTER SYSTEM SET max_connections = ${needed}; and restart PostgreSQL; or lower TENANT_CONNECTIONS. Multiply by the number of replicas.`,
      )
    },
  },
  {
    name: 'database clock',
    applies: isPostgres,
    async run({ database }) {
      const client = await database()
      if (!client) return []
      const before = Date.now()
      const { rows } = await client.query('SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms')
      const seconds = Math.abs(rows[0].ms - (before + Date.now()) / 2) / 1000
      const text = `The clocks of PostgreSQL and of this machine differ by ${seconds.toFixed(1)} s.`
      const mend = 'Synchronize both by NTP: timedatectl set-ntp true'
      if (seconds > 30) return fault(`${text} Tokens and leases end at wrong times.`, mend)
      return seconds > 2 ? warning(text, mend) : ok(text)
    },
  },
  {
    name: 'database disk',
    applies: isPostgres,
    async run({ database }) {
      const client = await database()
      if (!client) return []
      const { rows } = await client
        .query(`SELECT current_setting('data_directory', true) AS directory`)
        .catch(() => ({ rows: [] }))
      // Only where it is on this machine and may be looked at.
      const room = rows[0]?.directory && (await statfs(rows[0].directory).catch(() => undefined))
      if (!room) return []
      const free = room.bavail * room.bsize
      const text = `${megabytes(free)} are free for PostgreSQL in ${rows[0].directory}.`
      return free < fewestFreeBytes ? warning(text, 'Make room, or enlarge the disk.') : ok(text)
    },
  },
]

async function queryOf<R>(database: Database, statement: Sql): Promise<R[]> {
  const { text, values } = compileSql(statement)
  return (await database.query(text, values)).rows as R[]
}

type Postgis = { offered: string; installed: string | null; may: boolean }

function judgePostgis(postgis: Postgis | undefined): Finding {
  if (!postgis) {
    return fault(
      'PostGIS is not installed on the database server.',
      'Debian: apt-get install postgresql-16-postgis-3 (with the version of your server); then CREATE EXTENSION postgis;',
    )
  }
  const { offered, installed, may } = postgis
  if (installed !== null) {
    return Number.parseFloat(installed) >= Number(oldestPostgis)
      ? ok(`PostGIS ${installed}`)
      : fault(
          `PostGIS ${installed} is too old.`,
          `ALTER EXTENSION postgis UPDATE; to version ${oldestPostgis} or later`,
        )
  }
  if (may) return ok(`PostGIS ${offered} is there; the first start creates the extension.`)
  return fault(
    'The extension postgis is missing, and this role cannot create it.',
    'As a superuser, in this database: CREATE EXTENSION postgis;',
  )
}

function unreachable(error: unknown, server: PlatformServer): Finding {
  const { user: role, database } = server
  const mends: Record<string, string> = {
    ECONNREFUSED: 'Start PostgreSQL, let it listen there (listen_addresses), or correct DATABASE_URL.',
    ENOTFOUND: 'Correct the host in DATABASE_URL.',
    '28P01': `Correct the password in DATABASE_URL, or: ALTER ROLE "${role}" PASSWORD '…';`,
    '28000': `Let the role in: a line in pg_hba.conf such as "${hbaLine(server, role)}", and SELECT pg_reload_conf();`,
    ENOENT: 'Start PostgreSQL, or correct the directory of its socket (unix_socket_directories) in DATABASE_URL.',
    EACCES: 'Let the user of the server into the directory of the socket (unix_socket_permissions).',
    '3D000': `CREATE DATABASE "${database}" OWNER "${role}";`,
    '53300': 'ALTER SYSTEM SET max_connections to more, and restart PostgreSQL.',
  }
  const mend = mends[codeOf(error)] ?? 'Correct DATABASE_URL, or the network in between.'
  return fault(`PostgreSQL at ${describeServer(server)} cannot be used: ${messageOf(error)}`, mend)
}
