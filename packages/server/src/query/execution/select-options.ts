/** Limits of one SELECT in a tenant's database. */
export type SelectOptions = {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** A known upper bound of the number of rows. */
  readonly atMost?: number
  /** The statement contains no text written by a tenant. */
  readonly isTrusted?: boolean
  /**
   * One row by its key, whose plan is always the same, or a page in the order of the key, whose plan depends on the filter.
   * Neither is worth a parallel worker. Absent: the statement may read many rows.
   */
  readonly reads?: 'row' | 'page'
  /** The role may write, so that even what contains no such text runs in a read-only transaction. */
  readonly inTransaction?: boolean
  /** The rows are streamed to a client, so their number is unlimited. */
  readonly isStream?: boolean
}
