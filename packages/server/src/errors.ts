/** Every failure a client can be told of: its code (never renamed), its status and its title. */
const table = {
  invalid_request: [400, 'The request is not valid'],
  invalid_json: [400, 'The body is not valid JSON'],
  invalid_filter: [400, 'The filter is not valid'],
  weak_password: [400, 'The password is too weak'],
  unauthorized: [401, 'Not authorized'],
  email_not_verified: [401, 'The e-mail address is not confirmed'],
  not_found: [404, 'Not found'],
  method_not_allowed: [405, 'Method not allowed'],
  request_timeout: [408, 'The request took too long to arrive'],
  conflict: [409, 'Conflict'],
  precondition_failed: [412, 'The resource has changed'],
  too_large: [413, 'Too large'],
  too_many_rows: [413, 'Too many rows'],
  uri_too_long: [414, 'The address is too long'],
  unsupported_media_type: [415, 'Unsupported media type'],
  headers_too_large: [431, 'The headers are too large'],
  busy: [429, 'Too many at once'],
  rate_limited: [429, 'Too many tries'],
  internal: [500, 'Internal error'],
  upstream_failed: [502, 'The source did not answer properly'],
  unavailable: [503, 'Temporarily unavailable'],
  query_timeout: [504, 'The query took too long'],
} as const satisfies Record<string, readonly [number, string]>

export type ErrorCode = keyof typeof table

/** One fault inside a request: where it is, what it is. */
export type Fault = { path: string; code: string; message: string }

/**
 * An error that the client is told of. `detail` is public; `cause` goes to the log only.
 * Everything else that is thrown is answered as `internal`.
 */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly faults: readonly Fault[]
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode,
    detail: string,
    options: { cause?: unknown; faults?: readonly Fault[]; headers?: Record<string, string> } = {},
  ) {
    super(detail, { cause: options.cause })
    this.name = 'ApiError'
    this.code = code
    this.faults = options.faults ?? []
    this.headers = options.headers ?? {}
  }

  get status(): number {
    return table[this.code][0]
  }

  get title(): string {
    return table[this.code][1]
  }
}

/** A 400 with one fault: the commonest error there is. */
export function invalid(path: string, message: string, code: ErrorCode = 'invalid_request'): ApiError {
  return new ApiError(code, path ? `${path}: ${message}` : message, { faults: [{ path, code: 'invalid', message }] })
}

/** A reason not to start that whoever runs the server can mend: shown without a stack. */
export class StartError extends Error {
  override name = 'StartError'
}
