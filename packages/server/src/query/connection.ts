import type { GuardedRows } from '../db/guarded.ts'
import type { Sql } from '../db/sql.ts'

/** A place where data are: all that is known of it is that it answers PostgreSQL's SELECT. */
export type Connection = {
  /** Begins somebody's SELECT, with the rights of the application. Its rows must be read. */
  select(statement: Sql, options: SelectOptions): Promise<GuardedRows>
  /** Where names without a schema are. */
  readonly schema: string
}

export type SelectOptions = {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** The answer is known to have no more rows than this. */
  readonly atMost?: number
  /** No word of the statement is somebody else's. */
  readonly isOurs?: boolean
}
