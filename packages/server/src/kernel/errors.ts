/** The closed table of error codes, with status and title. Codes are never renamed. */
const table = {
  invalid_request: [400, 'The request is not valid'],
  invalid_json: [400, 'The body is not valid JSON'],
  invalid_filter: [400, 'The filter is not valid'],
  input_required: [400, 'The agent needs an input'],
  input_too_large: [400, 'The input is too large'],
  agent_rejected: [400, 'The agent rejected the input'],
  key_revoked: [401, 'The key was revoked'],
  weak_password: [400, 'The password is too weak'],
  unauthorized: [401, 'Not authorized'],
  email_not_verified: [401, 'The e-mail address is not confirmed'],
  rule_refused: [403, 'The rules of the dataset do not allow this'],
  second_factor_required: [401, 'A second factor is needed'],
  not_found: [404, 'Not found'],
  agent_not_found: [404, 'There is no such agent'],
  method_not_allowed: [405, 'Method not allowed'],
  request_timeout: [408, 'The request took too long to arrive'],
  conflict: [409, 'Conflict'],
  precondition_failed: [412, 'The resource has changed'],
  too_large: [413, 'Too large'],
  storage_quota: [413, 'The application has no space left'],
  too_many_rows: [413, 'Too many rows'],
  uri_too_long: [414, 'The address is too long'],
  unsupported_media_type: [415, 'Unsupported media type'],
  range_not_satisfiable: [416, 'The range is outside of the file'],
  upgrade_required: [426, 'This address is for WebSockets'],
  headers_too_large: [431, 'The headers are too large'],
  busy: [429, 'Too many requests at once'],
  agent_busy: [429, 'The agent is at its limit'],
  client_left: [499, 'The client closed the connection'],
  rate_limited: [429, 'Too many attempts'],
  internal: [500, 'Internal error'],
  agent_failed: [500, 'The agent failed'],
  upstream_failed: [502, 'The source failed'],
  provider_failed: [502, 'The model provider failed'],
  agent_disconnected: [502, 'The agent disconnected'],
  unavailable: [503, 'Temporarily unavailable'],
  agent_unavailable: [503, 'No process is serving the agent'],
  storage_full: [503, 'The storage is full'],
  storage_unavailable: [503, 'The file storage does not answer'],
  cancelled: [503, 'The invocation was cancelled'],
  shutting_down: [503, 'The server is stopping'],
  query_timeout: [504, 'The query took too long'],
  agent_timeout: [504, 'The agent did not respond in time'],
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
  /** Extension members of the problem+json. */
  readonly extensions: Readonly<Record<string, unknown>>

  constructor(
    code: ErrorCode,
    detail: string,
    options: {
      cause?: unknown
      faults?: readonly Fault[]
      headers?: Record<string, string>
      extensions?: Readonly<Record<string, unknown>>
    } = {},
  ) {
    super(detail, { cause: options.cause })
    this.name = 'ApiError'
    this.code = code
    this.faults = options.faults ?? []
    this.headers = options.headers ?? {}
    this.extensions = options.extensions ?? {}
  }

  get status(): number {
    return table[this.code][0]
  }

  get title(): string {
    return table[this.code][1]
  }
}

/** Whether this says that a record does not exist, or not for the caller. */
export const isNotFound = (error: unknown): error is ApiError => error instanceof ApiError && error.code === 'not_found'

/** A 400 with one fault. */
export function invalid(path: string, message: string, code: ErrorCode = 'invalid_request'): ApiError {
  return faulty([{ path, code: 'invalid', message }], code)
}

/** A 400 for a list of names in which one stands twice: the second has no effect. */
export function refuseRepeated(names: readonly string[], path: string): void {
  const seen = new Set<string>()
  const twice = names.find((name) => seen.size === seen.add(name).size)
  if (twice !== undefined) throw invalid(path, `"${shorten(twice, shownName)}" is given twice`)
}

/** Validation stops here: nobody mends more at once, and a request may hold a hundred thousand faults. */
export const maxFaults = 20

/** Names in paths and messages are the client's, and as long as it likes. */
const shownName = 80
const shownPath = 300
const shownMessage = 1_000

const shorten = (text: string, length: number): string => (text.length <= length ? text : `${text.slice(0, length)}…`)

const shown = ({ path, code, message }: Fault): Fault => ({
  path: shorten(path, shownPath),
  code,
  message: shorten(message, shownMessage),
})

/** A 400 with the faults that were found, of many the first: the detail names one and says how many there are. */
export function faulty(
  all: readonly Fault[],
  code: ErrorCode = 'invalid_request',
  extensions: Readonly<Record<string, unknown>> = {},
): ApiError {
  const faults = all.slice(0, maxFaults).map(shown)
  const [first] = faults
  const detail = first?.path ? `${first.path}: ${first.message}` : (first?.message ?? 'The request is not valid.')
  if (faults.length < 2) return new ApiError(code, detail, { faults, extensions })
  // Whoever looked for faults stopped at the last that is told.
  const number = faults.length === maxFaults ? `at least ${maxFaults}` : faults.length
  return new ApiError(code, `${detail.replace(/\.$/, '')}. The request has ${number} faults: see "errors".`, {
    faults,
    extensions,
  })
}

/** Collects the faults of several checks, so that a client gets them at once, and ends the checks when there are enough. */
export class FaultCollector {
  /** By path: a place that is at fault already is left at that. */
  readonly #faults = new Map<string, Fault>()
  #code: ErrorCode | undefined
  #extensions: Readonly<Record<string, unknown>> | undefined

  get size(): number {
    return this.#faults.size
  }

  /** Throws when there are enough, so that what follows is not looked at. */
  add(fault: Fault): void {
    if (!this.#faults.has(fault.path)) this.#faults.set(fault.path, fault)
    if (this.#faults.size >= maxFaults) throw this.#error()
  }

  /** What the check returns, or nothing when it finds a fault. An error that names no place is thrown on. */
  attempt<T>(check: () => T): T | undefined {
    try {
      return check()
    } catch (error) {
      if (!(error instanceof ApiError) || error.faults.length === 0) throw error
      this.#code ??= error.code
      this.#extensions ??= error.extensions
      for (const fault of error.faults) this.add(fault)
      return undefined
    }
  }

  /** Throws when there is a fault; otherwise what the checks made is whole. */
  finish<T>(made: T): Exclude<T, undefined>
  finish(): void
  finish(made?: unknown): unknown {
    if (this.#faults.size > 0) throw this.#error()
    return made
  }

  #error(): ApiError {
    return faulty([...this.#faults.values()], this.#code, this.#extensions)
  }
}

/** An error at start that the operator can correct, shown without a stack. */
export class StartError extends Error {
  override name = 'StartError'
}
