// The HTTP layer of the client: builds a request, sends it with retries and token refresh, and reads the response.
import { ApiError, readError } from './api-error.ts'
import { queryString } from './query-string.ts'
import { delayMs, mayRepeat, type Repeatability, repeatabilityOf, sleep } from './retry.ts'
import { credentialsOf, type Session, type SessionRefresh } from './session.ts'

/** Parameters of every method. All others are the operation's own and go into the query string. */
export interface RequestParams {
  /** Replaces the client's key and token for this request. */
  apiKey?: string | undefined
  signal?: AbortSignal | undefined
  headers?: Readonly<Record<string, string>> | undefined
  /** The ETag that the record must still have; otherwise the request fails with status 412. */
  ifMatch?: string | undefined
  timeoutMs?: number | undefined
  /** Called with the response, for its headers: ETag, X-Total-Count, Link, X-Request-Id. */
  onResponse?: ((response: Response) => void) | undefined
}

export type Path = () => string
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface Call {
  readonly method: string
  readonly path: Path
  readonly params?: (RequestParams & object) | undefined
  readonly json?: unknown
  /** Used instead of `json`; called again for each attempt. */
  readonly body?: () => NonNullable<RequestInit['body']>
  readonly headers?: Readonly<Record<string, string>>
  readonly accept?: string
  readonly repeatability?: Repeatability
  /** The operation needs no credentials. */
  readonly isPublic?: boolean
  readonly fetch?: Fetch | undefined
  /** How long the server may hold the request (long polling); added to the time limit. */
  readonly waitMs?: number
}

export interface Transport {
  readonly session: Session
  readonly fetch: Fetch
  readonly refresh: SessionRefresh
  readonly retries: number
  readonly timeoutMs: number | undefined
  readonly headers: Readonly<Record<string, string>>
}

/** Reads a response during its exchange. */
type ReadResponse<T> = (response: Response, exchange: Exchange) => Promise<T>

/** A template tag for paths: each value is escaped as one segment. */
export const path =
  (parts: TemplateStringsArray, ...values: (string | number)[]): Path =>
  () =>
    parts.reduce((address, part, index) => address + segment(values[index - 1] ?? '') + part)

/** Refuses empty ids and ids of dots, because URL resolution would turn them into the path of another resource. */
function segment(value: string | number): string {
  const text = String(value)
  if (text === '' || text === '.' || text === '..') throw new TypeError(`"${text}" is not an id or a key.`)
  return encodeURIComponent(text)
}

/** Sends a request, repeated as `retry.ts` allows, and reads the response. */
export async function request<T>(transport: Transport, call: Call, read: ReadResponse<T>): Promise<T> {
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

/** Called outside the exchange, so that an error of the callback is not taken for a network failure. */
function showResponse({ params }: Call, response: Response | undefined): void {
  if (response) params?.onResponse?.(response)
}

/** Waits before the next attempt. Throws the error if there is no delay, which means no next attempt. */
async function pause(delay: number | undefined, error: ApiError, signal: AbortSignal | undefined): Promise<void> {
  if (delay === undefined) throw error
  await sleep(delay, signal)
}

/** Another request may have refreshed the token in the meantime. */
const hasNewToken = async ({ session, refresh }: Transport, accessToken: string | null): Promise<boolean> =>
  session.accessToken !== accessToken || (await refresh())

type Outcome<T> = { error?: ApiError; response?: Response | undefined; answer?: T }

/** Returns failures of the exchange; throws those that the caller caused, such as an abort or invalid parameters. */
async function attemptOnce<T>(transport: Transport, call: Call, read: ReadResponse<T>): Promise<Outcome<T>> {
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
      // A redirect would send the key to another server.
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

/** Whether the access token was refused. Missing permissions are 401 too, but with another challenge. */
function isExpired({ isPublic, params }: Call, accessToken: string | null, response: Response | undefined): boolean {
  if (isPublic || params?.apiKey !== undefined || accessToken === null || response?.status !== 401) return false
  const challenge = response.headers.get('www-authenticate')
  return challenge === null || challenge.includes('invalid_token')
}

/** One HTTP exchange, with its abort signal, time limit and errors. */
export interface Exchange {
  readonly signal: AbortSignal
  /** Ends the exchange: the response was read, or the rest of it is not wanted. */
  end(): void
  /** Removes the time limit, for responses that are streamed. */
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

/** The message of fetch is only "fetch failed"; the reason is in its cause. */
function reasonOf(thrown: unknown): string {
  const { message, cause } = thrown as { message?: string; cause?: { message?: string; code?: string } }
  const reason = cause?.message || cause?.code || message
  return `The server cannot be reached, or the connection broke${reason ? `: ${reason}` : ''}.`
}
