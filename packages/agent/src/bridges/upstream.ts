// HTTP requests to model providers, and the classification of their errors.
import { ProviderError, Reject } from '../errors.ts'
import { hasMoreValues } from './json-size.ts'

type UpstreamResponse = Pick<Response, 'ok' | 'status'> & {
  readonly headers: Pick<Headers, 'get'>
  readonly body: AsyncIterable<Uint8Array> | null
}
type UpstreamInit = {
  method: 'POST'
  headers: Readonly<Record<string, string>>
  body: string
  signal: AbortSignal
  redirect: 'manual'
}
/** The part of fetch that bridges use. A server that runs bridges for tenants passes one with an SSRF guard. */
export type Fetch = (url: string, init: UpstreamInit) => Promise<UpstreamResponse>

export type UpstreamRequest = {
  /** @defaultValue the fetch of the process */
  fetch?: Fetch | undefined
  url: string
  headers?: Readonly<Record<string, string>>
  body: unknown
  signal: AbortSignal
}

const maxErrorLength = 4_096
/** Error texts of providers that mean the input is at fault. */
const inputFaults =
  /context_length_exceeded|context length|maximum context|prompt is too long|request_too_large|invalid_prompt|content_policy|content_filter/i

/** POSTs JSON and returns the response before its body is read. Throws unless it succeeded; messages contain no secrets. */
export async function post({
  fetch = globalThis.fetch,
  url,
  headers,
  body,
  signal,
}: UpstreamRequest): Promise<UpstreamResponse> {
  const response = await send(fetch, url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal,
    // A redirect would send the key to another host.
    redirect: 'manual',
  })
  if (response.ok) return response
  throw await refusal(response)
}

async function send(fetch: Fetch, url: string, init: UpstreamInit): Promise<UpstreamResponse> {
  try {
    return await fetch(url, init)
  } catch (error) {
    init.signal.throwIfAborted()
    if (error instanceof ProviderError) throw error
    throw new ProviderError('The model provider cannot be reached.', { cause: error, detail: causes(error) })
  }
}

/** Decodes the body in chunks. A broken connection is a ProviderError. */
export async function* textOf(response: UpstreamResponse, signal: AbortSignal): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  try {
    for await (const chunk of response.body ?? []) yield decoder.decode(chunk, { stream: true })
  } catch (error) {
    signal.throwIfAborted()
    throw new ProviderError('The model provider closed the connection before its answer was complete.', {
      cause: error,
      detail: causes(error),
    })
  }
  yield decoder.decode()
}

async function refusal(response: UpstreamResponse): Promise<Error> {
  const { status } = response
  const detail = await beginning(response)
  if ((status === 400 || status === 413 || status === 422) && (status === 413 || inputFaults.test(detail))) {
    return new Reject('The model provider rejected the input: it is too long or not allowed.')
  }
  return providerAnswered(status, { detail, retryAfterMs: retryAfterMs(response.headers) })
}

/** The error for a provider's error message. Errors inside a stream get the status they would have had. */
export function providerAnswered(
  status: number,
  { detail, retryAfterMs }: { detail: string; retryAfterMs?: number | undefined },
): ProviderError {
  const hint = retryAfterMs === undefined ? '' : ` Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`
  return new ProviderError(`The model provider answered with status ${status}.${hint}`, {
    status,
    detail,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  })
}

function retryAfterMs(headers: UpstreamResponse['headers']): number | undefined {
  const ms = Number(headers.get('retry-after-ms') ?? Number.NaN)
  if (ms >= 0) return ms
  const retryAfter = headers.get('retry-after')
  if (retryAfter === null) return undefined
  const seconds = Number(retryAfter)
  const wait = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1_000
  return wait >= 0 ? wait : undefined
}

/** The first part of an error response's body. */
async function beginning(response: UpstreamResponse): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      if (text.length > maxErrorLength) break
    }
  } catch {
    // The connection broke; the part that arrived is enough.
  }
  return text.slice(0, maxErrorLength)
}

const maxValues = 100_000

/** Parses a JSON object of a stream; throws a ProviderError if it is not one. */
export function parseJson(text: string): Record<string, unknown> {
  if (hasMoreValues(text, maxValues)) throw new ProviderError('The answer of the model provider is too complex.')
  try {
    const value = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // Reported below.
  }
  throw new ProviderError('The answer of the model provider is not valid.', { detail: text.slice(0, 200) })
}

/** The messages of an error and its causes, because fetch puts the reason there. */
function causes(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error
    ? `${message}: ${cause.message || (cause as NodeJS.ErrnoException).code}`
    : String(message)
}

/** Joins a base URL, with or without trailing slash, and a path. */
export const below = (base: string, path: string): string => `${base.replace(/\/+$/, '')}${path}`
