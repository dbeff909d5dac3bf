/** Throw it in a handler when the input cannot be answered: the caller gets 400 and the message. */
export class Reject extends Error {
  override readonly name = 'Reject'
}

/** Throw it in a handler when the model provider failed: the caller gets 502 and the message. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  /** What the provider answered, when it did. */
  readonly status: number | undefined
  /** When the provider said that another try makes sense. */
  readonly retryAfterMs: number | undefined
  /** For the log of the worker only. */
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

/** The platform does not let this worker serve the agent; asking again would not help. */
export class ConnectionRefused extends Error {
  override readonly name = 'ConnectionRefused'
  /** What the platform answered. */
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}
