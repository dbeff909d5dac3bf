import { ProviderError, Reject } from '../errors.ts'

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
/** What bridges need of fetch: whoever runs them for others decides where they may reach. */
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
/** How providers say that the fault lies in the input. */
const inputFaults =
  /context_length_exceeded|context length|maximum context|prompt is too long|request_too_large|invalid_prompt|content_policy|content_filter/i

/** Posts JSON and returns the answer that has begun; everything but success is thrown, and tells callers no secrets. */
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
    // A redirect would carry the key to another host.
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

/** The body as text, cut anywhere but never through a character. A connection that breaks is the provider's failure. */
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

/** An error the provider told, with the status it has or would have had. */
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
  const said = headers.get('retry-after')
  if (said === null) return undefined
  const seconds = Number(said)
  const wait = Number.isNaN(seconds) ? Date.parse(said) - Date.now() : seconds * 1_000
  return wait >= 0 ? wait : undefined
}

/** Enough of a body to know what went wrong. */
async function beginning(response: UpstreamResponse): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      if (text.length > maxErrorLength) break
    }
  } catch {
    // What came before it broke is all there is.
  }
  return text.slice(0, maxErrorLength)
}

/** One JSON value of a stream; anything else is the provider's fault. */
export function parseJson(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // Said below.
  }
  throw new ProviderError('The answer of the model provider is not valid.', { detail: text.slice(0, 200) })
}

/** fetch hides the reason in the cause. */
function causes(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error
    ? `${message}: ${cause.message || (cause as NodeJS.ErrnoException).code}`
    : String(message)
}

/** The address of a path below a base that may end in a slash. */
export const below = (base: string, path: string): string => `${base.replace(/\/+$/, '')}${path}`
