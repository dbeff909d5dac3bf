/** Limits of one SELECT in a tenant's database. */
export type SelectOptions = {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** A known upper bound of the number of rows. */
  readonly atMost?: number
  /** The statement contains no text written by a tenant. */
  readonly isOurs?: boolean
  /** The rows are streamed to a client, so their number is unlimited. */
  readonly isStream?: boolean
}
