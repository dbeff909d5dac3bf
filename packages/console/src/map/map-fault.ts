/** Converts MapLibre's errors to errors with the server's message. */
import { ApiError } from '@graticule/client'
import type { AJAXError } from 'maplibre-gl'

/** Problem details; the body of a proxy's error may be something else. */
interface Problem {
  detail?: string
  code?: string
  requestId?: string
}

/** MapLibre's message has only the URL and the status; the response body has the reason. */
export async function mapFault(error: Error): Promise<Error> {
  const failure = failureOf(error)
  if (!failure) return error
  const { status, body } = failure
  if (status === 0) return new ApiError({ status, code: 'network_error', message: 'The server cannot be reached.' })
  const problem: Problem = await body
    .text()
    .then((text) => JSON.parse(text) as Problem)
    .catch(() => ({}))
  return new ApiError({
    status,
    code: problem.code ?? 'http_error',
    message: problem.detail ?? `The server answered ${status} to a request of the map.`,
    requestId: problem.requestId,
  })
}

function failureOf(error: Error): Pick<AJAXError, 'status' | 'body'> | undefined {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if ('status' in cause && typeof cause.status === 'number' && 'body' in cause && cause.body instanceof Blob)
      return { status: cause.status, body: cause.body }
  }
  return undefined
}
