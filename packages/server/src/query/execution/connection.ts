// The connection interface that every database driver implements: run SELECTs, explain them, introspect tables.
import type { Batches, GuardedRows } from '../../kernel/db/guarded.ts'
import type { PostgresServer } from '../../kernel/db/postgres/postgres-client.ts'
import type { Sql } from '../../kernel/db/sql.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Dialect, DialectSubject } from './dialect.ts'
import type { Introspection } from './introspection.ts'
import type { SelectOptions } from './select-options.ts'

/** An open connection to a tenant's database of any engine, made by a driver in databases/. */
export type Connection = Introspection & {
  /**
   * Starts a SELECT in the engine's own dialect, with the application's privileges. The caller must consume the rows.
   */
  select(statement: Sql, options: SelectOptions): Promise<SelectedRows>
  /**
   * Only for engines that send geometry as WKB: rows as byte blocks that can go to another thread unparsed. Each cell
   * is its length as a big-endian int32 (-1 for null) followed by its bytes: WKB, 1 or 0 for a boolean, text for
   * anything else.
   */
  selectBlocks?(statement: Sql, options: SelectOptions): Promise<AsyncIterable<Uint8Array>>
  /** Only for engines that write what they select into files. */
  readonly derived?: DerivedFiles
  /** The query plan in the engine's own JSON. The statement is not run. */
  explain(statement: Sql, options: SelectOptions): Promise<unknown>
  /** The SQL dialect for plans on this subject. */
  dialect(subject: DialectSubject): Promise<Dialect>
  /** The schema of unqualified names. */
  readonly schema: string
  /** The server is run by a third party and may be hostile. */
  readonly isExternal?: boolean
  /** Only for PostgreSQL with PostGIS: for callers that write their own SQL, such as tiles. */
  readonly postgres?: PostgresConnection
}

/** Files that an engine makes of tables and reads again. */
export type DerivedFiles = {
  /** In a process of its own, so that no query waits. Later statements of the same builder find the rows as `writtenRows(name)`. */
  write(name: string, statement: Sql, options: SelectOptions): Promise<DerivedFile>
  writtenRows(name: string): Sql
  /** A folder of such files as a database; `id` names it. */
  read(id: string, directory: string): Required<Pick<Connection, 'selectBlocks'>> & Connection
}

/** Gone when the process ends. */
export type DerivedFile = { readonly path: string; readonly bytes: number; readonly rows: number }

/** A started answer. The query ends when the caller stops reading or aborts. */
export type SelectedRows = {
  /** The number of columns. */
  readonly width: number
  readonly batches: Batches
}

/** What only PostgreSQL offers. */
export type PostgresConnection = {
  select(statement: Sql, options: SelectOptions): Promise<GuardedRows>
  /** In the platform's database also the name of the application's role. */
  readonly schema: string
  readonly isExternal?: boolean
  /**
   * Only in the platform's database: queries the catalogs with the platform's privileges, because the application's
   * role cannot see them. Use it only for statements we wrote that return only what the role called `schema` may know.
   */
  readonly catalog?: PostgresConnection['select']
  /** Only for a separate server: how another thread connects to it, and the statements it sends first. */
  readonly server?: PostgresServer
  readonly settings?: string
  /** Only for a table of an external database: the statement, which fails where its geometries are not as the dataset says. */
  demandColumns?(statement: Sql): Sql
}

/** Turns an unexpected error into one that blames the external server, if there is one, and not this service. */
export function blame({ isExternal }: Pick<Connection, 'isExternal'>): (error: unknown) => never {
  return (error) => {
    if (error instanceof ApiError || !isExternal) throw error
    throw new ApiError('upstream_failed', 'The database server sent an answer that is not valid.', { cause: error })
  }
}
