import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { ApiError } from '../../kernel/errors.ts'
import { report } from '../../kernel/events.ts'
import { overLimit } from '../../kernel/limits/limits.ts'
import { isPlatformStorageFull, systemFault } from './system-fault.ts'

export const problemType = 'application/problem+json'

export const problemSchema = Type.Object(
  {
    type: Type.String({ description: 'A URN that names the kind of problem' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'What is wrong with this request, and what to do' }),
    instance: Type.String({ description: 'The path of the request' }),
    code: Type.String({ description: 'Never renamed: programs may rely on it' }),
    requestId: Type.String({ description: 'Also in the X-Request-Id header and in the log' }),
    errors: Type.Array(Type.Object({ path: Type.String(), code: Type.String(), message: Type.String() })),
    statusCode: Type.Integer({ description: 'The same as status' }),
    message: Type.String({ description: 'The same as detail' }),
    error: Type.String({ description: 'The reason phrase of the status' }),
  },
  { description: 'RFC 9457 problem details' },
)

/** `common` are the headers of every answer. */
export function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  common: Readonly<Record<string, string>>,
): FastifyReply {
  forgetHeaders(reply)
  reply.headers(common)
  const problem = asApiError(error, request)
  if (problem.code === 'storage_full' && isPlatformStorageFull(error)) report('storageFull', {})
  // A client that has disconnected gets no answer, and that is no fault of the server.
  const hasLeft = request.raw.socket.destroyed
  if (problem.status >= 500 && !hasLeft) logFailure(request, problem, error)
  // No hook has run when the router cannot parse the URL.
  reply.header('x-request-id', request.id)
  reply.header('cache-control', 'no-store')
  if (problem.status === 401) reply.header('www-authenticate', 'ApiKey realm="graticule"')
  for (const [name, value] of Object.entries(headersOf(problem))) reply.header(name, value)
  return reply
    .code(problem.status)
    .type(problemType)
    .send(problemBody(problem, request.url, request.id))
}

/**
 * A stream that fails before its first byte has chosen the headers of a success already: its type and coding, a file name, an
 * ETag, a range. The framework has put them on the reply and on the response of node:http.
 */
function forgetHeaders(reply: FastifyReply): void {
  if (reply.raw.headersSent) return
  for (const name of Object.keys(reply.getHeaders())) {
    reply.removeHeader(name)
    reply.raw.removeHeader(name)
  }
}

/**
 * A fault that nobody foresaw is an error with its stack. An outcome that operations declare, such as an agent without a
 * worker or a database that does not answer, is a warning in one line.
 */
function logFailure({ id: requestId, log }: FastifyRequest, problem: ApiError, error: unknown): void {
  const { code, status, message: detail, cause } = problem
  if (code === 'internal') return void log.error({ requestId, err: error, cause }, 'request failed')
  const because = cause ?? (error === problem ? undefined : error)
  const reason = because instanceof Error ? because.message : because
  log.warn(
    { requestId, code, status, detail, ...(reason !== undefined && { cause: String(reason) }) },
    'request refused',
  )
}

/** Who is to come again later is told when. Headers do not survive the way between threads, so some errors have lost theirs. */
const headersOf = ({ status, headers }: ApiError): Readonly<Record<string, string>> =>
  status === 429 || status === 503 ? { 'Retry-After': '1', ...headers } : headers

function problemBody(problem: ApiError, url: string, requestId: string): string {
  const { status, code, title, message, faults, extensions } = problem
  return JSON.stringify({
    type: `urn:graticule:problem:${code}`,
    title,
    status,
    detail: message,
    instance: url.split('?', 1)[0],
    code,
    requestId,
    errors: faults,
    statusCode: status,
    message,
    error: STATUS_CODES[status] ?? title,
    ...extensions,
  })
}

/** The whole answer as bytes of HTTP, for a socket on which there is no request; the connection ends with it. */
export function problemAnswer(problem: ApiError): string {
  const id = randomUUID()
  const body = problemBody(problem, '', id)
  const headers = {
    Connection: 'close',
    'X-Request-Id': id,
    'Content-Type': problemType,
    'Content-Length': Buffer.byteLength(body),
    ...headersOf(problem),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${problem.status} ${problem.title}\r\n${lines.join('')}\r\n${body}`
}

/** Translates errors of the HTTP library; anything else is `internal` and tells the client nothing. */
function asApiError(error: unknown, { routeOptions }: FastifyRequest): ApiError {
  if (error instanceof ApiError) {
    // The error is general, and its cause says more.
    const isVague = error.code === 'internal' || error.code === 'unavailable'
    const fault = isVague ? systemFault(error.cause) : undefined
    return fault?.code === 'storage_full' ? fault : error
  }
  const fault = systemFault(error)
  if (fault) return fault
  const status = typeof error === 'object' && error && 'statusCode' in error ? error.statusCode : 500
  if (status === 413) return bodyTooLarge(routeOptions.bodyLimit)
  if (status === 414) return new ApiError('uri_too_long', 'The address is too long.')
  if (status === 415) return new ApiError('unsupported_media_type', 'Send the body as application/json.')
  if (status === 400) return new ApiError('invalid_request', 'The request is not valid HTTP.', { cause: error })
  if (status === 503) return new ApiError('unavailable', 'The server is stopping. Try again shortly.', retrySoon)
  return new ApiError(
    'internal',
    'The server failed because of an internal error. Its log says why, under this requestId.',
  )
}

const bodyTooLarge = (most: number): ApiError =>
  overLimit('bodyBytes', most, `The body is larger than ${most} bytes, the most that this operation accepts.`)

const retrySoon = { headers: { 'Retry-After': '2' } }
