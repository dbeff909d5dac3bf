// What a database driver is. drivers.ts lists them; CONTRIBUTING.md says how to add one.
import type { Secrets } from '../../api/access/secrets/secrets.ts'
import type { Entity } from '../../api/resource/resource.ts'
import type { MachineShare } from '../../kernel/concurrency/machine-share.ts'
import type { Db } from '../../kernel/db/db.ts'
import type { PlatformServer } from '../../kernel/libpq/platform-server.ts'
import type { Connection } from '../../query/execution/connection.ts'
import type { ColumnTraits, ColumnType } from '../../query/values/attribute.ts'
import type { DriverDetails } from './driver-details.ts'

/** A database as it is stored. */
export type DatabaseRecord = {
  id: string
  applicationId: string
  revision: string
  type: string
  host: string
  port: number
  user: string
  /** Sealed. */
  password: string | null
  db: string
  metadata: Record<string, unknown>
}

/** What says which server and database a record leads to. */
export type ServerFields = Pick<DatabaseRecord, 'type' | 'host' | 'port' | 'db'>

/** Equal for records that lead to the same database, whoever their users are. */
export type ServerKey = string

/** What drivers are given. */
export type DriverServices = {
  readonly db: Db
  readonly secrets: Secrets
  /** The platform's own server; none when it is embedded. */
  readonly platform: PlatformServer | undefined
  /** Connections of each application: as many as it may read answers at once, and some to look around. */
  readonly poolSize: number
  /** Of all applications together, to the platform's own server. */
  readonly maxConnections: number
  readonly share: MachineShare
  /** Below `files/<application id>` in it are the files of an application. */
  readonly dataDirectory: string
  /** For the log. */
  onError(error: unknown): void
  /** The address that a host name means, if it may be reached. */
  resolve(target: { host: string; port: number }): Promise<string>
  /** The egress guard: the answer to a GET, whose body comes as it is sent. Redirects are not followed. */
  readonly stream: FetchStream
}

export type FetchStream = (
  url: string,
  request: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
) => Promise<{
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Buffer>
}>

export type OpenDatabase = {
  readonly connection: Connection
  /** Where tables can be made; absent: the database is only read. */
  readonly writable?: { readonly db: Db; readonly schema: string }
  close(): Promise<void>
}

/** A driver at work: what its connections share is behind it. */
export type StartedDriver = {
  /** Records with the same key share one connection. */
  keyOf(record: DatabaseRecord): string
  connect(record: DatabaseRecord): Promise<OpenDatabase>
  close(): Promise<void>
}

/** A kind of database. Callers ask for what it can, never for its name. */
export type DatabaseDriver = DriverDetails & {
  /** Absent: always. A driver that is not installed is not listed, and its records are refused in words. */
  isInstalled?(): boolean
  /** Names of stand-ins depend on it, so its form stays where changes can be followed. */
  serverKey(record: ServerFields): ServerKey
  /** Throws a 400 that names the field unless a record has what the driver connects with. */
  checkRecord(record: Entity): void
  /** Takes a connection string apart into fields of a record, and says what goes into metadata; absent: there is none. */
  readConnectionString?(text: string): { readonly fields: Entity; readonly metadata: Entity }
  /** What queries must know of a column by its type, in the names of this kind of database. */
  columnTraits(column: ColumnType): ColumnTraits
  start(services: DriverServices): StartedDriver
}
