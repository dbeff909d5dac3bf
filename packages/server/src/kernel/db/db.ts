import type { GuardedOptions, GuardedRows } from './guarded.ts'
import type { Sql } from './sql.ts'

export type Row = Record<string, unknown>

/** A piece of tuples, cut anywhere. The bytes are good until the next piece is asked for. */
export type TupleBytes = {
  readonly bytes: Uint8Array
  /** The chunk ends with a whole tuple. */
  readonly isEnd: boolean
}

/** What both a database and an open transaction can do. */
export type Queryable = {
  /** Runs one statement (extended protocol) and returns its rows. */
  query<R extends Row = Row>(statement: Sql): Promise<R[]>
  /** Rows in batches, pulled by the reader: a slow reader holds no memory. Leaving the loop or aborting ends the query. */
  rows<R extends Row = Row>(statement: Sql, options?: { batchSize?: number; signal?: AbortSignal }): AsyncIterable<R[]>
  /** COPY … FROM STDIN in text format. Each chunk ends at a line end. Returns the number of rows. */
  copyIn(statement: Sql, chunks: AsyncIterable<string>): Promise<number>
  /** COPY … FROM STDIN (FORMAT binary), without header and trailer. Returns the number of rows. */
  copyInBinary(statement: Sql, tuples: AsyncIterable<TupleBytes>): Promise<number>
  /** Several statements without parameters, as a migration file holds them. Never pass input. */
  script(text: string): Promise<void>
}

export type Transaction = Queryable & {
  /** A statement that is cancelled when the signal is aborted. The embedded database runs it to its end, and fails then. */
  cancellable<R extends Row = Row>(statement: Sql, signal: AbortSignal): Promise<R[]>
  /** COPY … TO STDOUT in text format, read as slowly as the reader likes. Pieces may be cut anywhere. */
  copyOut(statement: Sql): AsyncIterable<Uint8Array>
}

export type TransactionOptions = {
  /** One of many pieces of long work, which gives way to all others on the embedded database. */
  readonly isPiece?: boolean
}

/** The platform's database: PostgreSQL by address, or embedded in the process. Same dialect, same value types. */
export type Db = Queryable & {
  readonly kind: 'postgres' | 'embedded'
  /**
   * Runs `work` in one transaction; an error rolls it back. After a deadlock with others, or the first transformation between two
   * reference systems on the embedded database, it runs again, unless it has read a stream, so what it does besides the
   * transaction must bear that.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Runs a SELECT of a tenant within GuardedOptions. Its rows must be read. */
  guarded(statement: Sql, options: GuardedOptions): Promise<GuardedRows>
  /** Notes a request of the tenant with this role, for a fair share of the embedded database. */
  noteRequest?(role: string): void
  /** Copies the files of the embedded database, as they are between two transactions; statements wait until it is done. */
  copyFiles?(target: string): Promise<void>
  /**
   * Opens an empty database beside the embedded one, with PostGIS, for work that would keep its only session for long. It survives no
   * crash, and closing it removes it.
   */
  openBeside?(): Promise<Db>
  close(): Promise<void>
}
