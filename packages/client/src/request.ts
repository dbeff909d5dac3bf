import { ApiError, readError } from './api-error.ts'
import { queryString } from './query-string.ts'
import { delayMs, mayRepeat, type Repeatability, repeatabilityOf, sleep } from './retry.ts'
import { credentialsOf, type Refresh, type Session } from './session.ts'

/** What every method takes besides the parameters of its operation, which go into the query string. */
export interface RequestParams {
  /** For this request only, instead of the client's key and token. */
  apiKey?: string | undefined
  signal?: AbortSignal | undefined
  headers?: Readonly<Record<string, string>> | undefined
  /** The ETag that the record must still have, otherwise the request is refused with status 412. */
  ifMatch?: string | undefined
  timeoutMs?: number | undefined
  /** Sees the answer's headers: ETag, X-Total-Count, Link, X-Request-Id. */
  onResponse?: ((response: Response) => void) | undefined
}

export type Path = () => string
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface Call {
  readonly method: string
  readonly path: Path
  readonly params?: (RequestParams & object) | undefined
  readonly json?: unknown
  /** Instead of JSON; asked for anew at each try. */
  readonly body?: () => NonNullable<RequestInit['body']>
  readonly headers?: Readonly<Record<string, string>>
  readonly accept?: string
  readonly repeatability?: Repeatability
  /** Whoever asks need not say who they are. */
  readonly isPublic?: boolean
  readonly fetch?: Fetch | undefined
  /** How long the server may take on purpose, besides the time that every answer may take. */
  readonly waitMs?: number
}

export interface Transport {
  readonly session: Session
  readonly fetch: Fetch
  readonly refresh: Refresh
  readonly retries: number
  readonly timeoutMs: number | undefined
  readonly headers: Readonly<Record<string, string>>
}

/** Reads an answer while the exchange lasts. */
type Read<T> = (response: Response, exchange: Exchange) => Promise<T>

/** An address below the server's own: each value becomes one segment of the path, whatever characters it has. */
export const path =
  (parts: TemplateStringsArray, ...values: (string | number)[]): Path =>
  () =>
    parts.reduce((address, part, index) => address + segment(values[index - 1] ?? '') + part)

/** An address is resolved before it is sent: an id of dots would name another resource, an empty one the list of them. */
function segment(value: string | number): string {
  const text = String(value)
  if (text === '' || text === '.' || text === '..') throw new TypeError(`"${text}" is not an id or a key.`)
  return encodeURIComponent(text)
}

/** Sends a request until it is answered, and reads the answer. */
export async function request<T>(transport: Transport, call: Call, read: Read<T>): Promise<T> {
  const { signal } = call.params ?? {}
  const repeatability = call.repeatability ?? repeatabilityOf(call.method)
  let isRenewed = repeatability === 'never'
  for (let attempt = 0; ; ) {
    signal?.throwIfAborted()
    const { accessToken } = transport.session
    const { error, response, answer } = await attemptOnce(transport, call, read)
    showResponse(call, response)
    if (!error) return answer as T
    if (!isRenewed && isExpired(call, accessToken, response)) {
      isRenewed = true
      if (await hasNewToken(transport, accessToken)) continue
    }
    const isRepeated = attempt < transport.retries && mayRepeat(repeatability, error, response)
    await pause(isRepeated ? delayMs(attempt++, response) : undefined, error, signal)
  }
}

/** Outside of the exchange: what the caller's function throws is no failure of the network. */
function showResponse({ params }: Call, response: Response | undefined): void {
  if (response) params?.onResponse?.(response)
}

/** Without a delay there is no next try. */
async function pause(delay: number | undefined, error: ApiError, signal: AbortSignal | undefined): Promise<void> {
  if (delay === undefined) throw error
  await sleep(delay, signal)
}

/** Another request may have refreshed the token while this one was on its way. */
const hasNewToken = async ({ session, refresh }: Transport, accessToken: string | null): Promise<boolean> =>
  session.accessToken !== accessToken || (await refresh())

type Outcome<T> = { error?: ApiError; response?: Response | undefined; answer?: T }

/** Failures of the exchange are returned, those of the caller's making thrown: an abort, parameters that cannot be sent. */
async function attemptOnce<T>(transport: Transport, call: Call, read: Read<T>): Promise<Outcome<T>> {
  const { address, init } = prepare(transport, call)
  const timeoutMs = call.params?.timeoutMs ?? transport.timeoutMs
  const exchange = openExchange(call.params?.signal, timeoutMs && timeoutMs + (call.waitMs ?? 0))
  let response: Response | undefined
  try {
    response = await (call.fetch ?? transport.fetch)(address, { ...init, signal: exchange.signal })
    if (response.ok) return { answer: await read(response, exchange), response }
    const error = await readError(response)
    exchange.end()
    return { error, response }
  } catch (thrown) {
    exchange.end()
    return { error: exchange.failure(thrown), response }
  }
}

function prepare({ session, headers }: Transport, call: Call): { address: string; init: RequestInit } {
  const { method, params = {}, json, body } = call
  const { apiKey, signal, headers: own, ifMatch, timeoutMs, onResponse, ...query } = params
  const content = body?.() ?? (json === undefined ? undefined : JSON.stringify(json))
  const credentials = apiKey === undefined ? credentialsOf(session) : { 'x-api-key': apiKey }
  return {
    address: session.url + call.path() + queryString(query),
    init: {
      method,
      // A redirect would take the key along, wherever it leads to.
      redirect: 'error',
      headers: {
        accept: call.accept ?? 'application/json',
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...(!call.isPublic && credentials),
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
        ...call.headers,
        ...headers,
        ...own,
      },
      ...(content !== undefined && { body: content }),
      ...(content instanceof ReadableStream && { duplex: 'half' }),
    },
  }
}

/** The token was sent and refused. A key that may not do this is 401 too, but says so in other words. */
function isExpired({ isPublic, params }: Call, accessToken: string | null, response: Response | undefined): boolean {
  if (isPublic || params?.apiKey !== undefined || accessToken === null || response?.status !== 401) return false
  const challenge = response.headers.get('www-authenticate')
  return challenge === null || challenge.includes('invalid_token')
}

/** One request on its way and its answer: what ends both, and what went wrong with them. */
export interface Exchange {
  readonly signal: AbortSignal
  /** The answer has come, or is as much as is wanted of it. */
  end(): void
  /** The answer goes on for as long as somebody reads it. */
  untime(): void
  failure(thrown: unknown): ApiError
}

function openExchange(signal: AbortSignal | undefined, timeoutMs: number | undefined): Exchange {
  const controller = new AbortController()
  const over = new Error('over')
  const abort = (): void => controller.abort(signal?.reason)
  const timeout = new ApiError({ status: 0, code: 'timeout', message: `No answer came within ${timeoutMs} ms.` })
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => controller.abort(timeout), timeoutMs)
  signal?.addEventListener('abort', abort, { once: true })
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      controller.abort(over)
    },
    untime: () => clearTimeout(timer),
    failure(thrown) {
      if (signal?.aborted) throw signal.reason
      if (controller.signal.reason === timeout) return timeout
      if (thrown instanceof ApiError) return thrown
      return new ApiError({ status: 0, code: 'network_error', message: reasonOf(thrown), cause: thrown })
    },
  }
}

/** fetch says "fetch failed" and keeps the reason to itself. */
function reasonOf(thrown: unknown): string {
  const { message, cause } = thrown as { message?: string; cause?: { message?: string; code?: string } }
  const reason = cause?.message || cause?.code || message
  return `The server cannot be reached, or the connection broke${reason ? `: ${reason}` : ''}.`
}
