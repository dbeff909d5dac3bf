/** Thrown by a handler if the input cannot be answered: the caller gets 400 and the message. */
export class Reject extends Error {
  override readonly name = 'Reject'
}

/** Thrown by a handler if the model provider failed: the caller gets 502 and the message. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  /** The status of the provider's response, if there was one. */
  readonly status: number | undefined
  /** The provider's Retry-After. */
  readonly retryAfterMs: number | undefined
  /** For the worker's log only. */
  readonly detail: string | undefined

  constructor(
    message: string,
    {
      cause,
      status,
      retryAfterMs,
      detail,
    }: ErrorOptions & { status?: number; retryAfterMs?: number; detail?: string } = {},
  ) {
    super(message, { cause })
    this.status = status
    this.retryAfterMs = retryAfterMs
    this.detail = detail
  }
}

/** The platform refuses this worker, and would refuse it again. */
export class ConnectionRefused extends Error {
  override readonly name = 'ConnectionRefused'
  /** The status of the platform's response. */
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}
