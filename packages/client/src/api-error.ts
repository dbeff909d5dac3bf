// The error class of the client, and its construction from problem details (RFC 9457).
import type { Problem } from './types.ts'

/** One fault inside a request: where it is, what it is. */
export type Fault = Problem['errors'][number]

export interface ApiErrorFields {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly errors?: readonly Fault[] | undefined
  readonly requestId?: string | null | undefined
  readonly cause?: unknown
}

/**
 * A failed request. Codes are stable, so programs may rely on `code`; `message` says what to do. A request without a
 * response has status 0 and the code `network_error` or `timeout`.
 */
export class ApiError extends Error {
  override readonly name: string = 'ApiError'
  readonly status: number
  readonly code: string
  /** Every fault of an invalid request. */
  readonly errors: readonly Fault[]
  /** Identifies the request in the server's log. */
  readonly requestId: string | null

  constructor({ status, code, message, errors = [], requestId = null, cause }: ApiErrorFields) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.code = code
    this.errors = errors
    this.requestId = requestId
  }
}

/** The error for a response with a failing status; a proxy's HTML page becomes `http_error`. */
export async function readError(response: Response): Promise<ApiError> {
  const { status, statusText, headers } = response
  const requestId = headers.get('x-request-id')
  const problem = isProblem(response) ? await response.json().catch(() => undefined) : undefined
  if (problem) return problemError(problem as Problem, status, requestId)
  const message = `The server answered ${status} ${statusText}`.trimEnd()
  return new ApiError({ status, code: 'http_error', message: `${message}.`, requestId })
}

/** Whether the response comes from Graticule and not from a proxy in front of it. */
export const isProblem = ({ headers }: Response): boolean => /problem\+json/.test(headers.get('content-type') ?? '')

/** An error from problem details, which are the body of a response or the payload of an event. */
export const problemError = (problem: Partial<Problem>, status: number, requestId: string | null = null): ApiError =>
  new ApiError({
    status: problem.status ?? status,
    code: problem.code ?? 'http_error',
    message: problem.detail ?? problem.message ?? `The server answered ${status}.`,
    errors: problem.errors,
    requestId: problem.requestId ?? requestId,
  })
