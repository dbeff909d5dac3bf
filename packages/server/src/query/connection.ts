import type { GuardedRows } from '../db/guarded.ts'
import type { Server } from '../db/postgres-client.ts'
import type { Sql } from '../db/sql.ts'
import { ApiError } from '../errors.ts'

/** A place where data are: all that is known of it is that it answers PostgreSQL's SELECT. */
export type Connection = {
  /** Begins somebody's SELECT, with the rights of the application. Its rows must be read. */
  select(statement: Sql, options: SelectOptions): Promise<GuardedRows>
  /** Where names without a schema are. */
  readonly schema: string
  /**
   * Only in the platform's own database: asks its catalogs with the platform's rights, because those of the application see
   * none. For statements that are ours alone and answer only what the role called `schema` may know.
   */
  readonly catalog?: Connection['select']
  /** Only where it is a server of its own: how another thread can connect to it, and what it then says first. */
  readonly server?: Server
  readonly settings?: string
  /** A server that somebody else runs, who may be hostile. */
  readonly isForeign?: boolean
  /** Makes a table of lines in COPY's text format: all of them, or no table. Answers how many rows it has. */
  load(table: NewTable, lines: AsyncIterable<string>): Promise<number>
}

/** An error that nobody foresaw comes from what a foreign server said: that one is to blame, not this service. */
export function blame({ isForeign }: Pick<Connection, 'isForeign'>): (error: unknown) => never {
  return (error) => {
    if (error instanceof ApiError || !isForeign) throw error
    throw new ApiError('upstream_failed', 'The database server sent an answer that is not valid.', { cause: error })
  }
}

export type NewTable = {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly type: string }[]
}

export type SelectOptions = {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** The answer is known to have no more rows than this. */
  readonly atMost?: number
  /** No word of the statement is somebody else's. */
  readonly isOurs?: boolean
  /** The rows go to a client as they come, so there may be any number of them. */
  readonly isStream?: boolean
}
