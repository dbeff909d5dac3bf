import { lookup as systemLookup } from 'node:dns/promises'
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import type { Agent, buildConnector, Dispatcher } from 'undici'
import { ApiError } from '../errors.ts'
import { ChunkCollector } from './chunk-collector.ts'
import { createDeniedAddresses, type DeniedServices, type Lookup } from './deny-list.ts'
import { createPolicy, type PolicyOptions } from './policy.ts'
import { downgraded, refusedAddress, unreachable } from './refusals.ts'

type Resolved = { address: string; family: number }

export type EgressRequest = {
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  signal?: AbortSignal
  /** For the whole exchange, redirects included. */
  timeoutMs?: number
  maxBytes?: number
  /** Accepts a compressed body that was not asked for, and hands it over as it is. */
  isEncodedWelcome?: boolean
  /** Truncates a body at `maxBytes` instead of failing. */
  isCutWelcome?: boolean
  /** By default a redirect is returned like any other answer. */
  followsRedirects?: boolean
}

type EgressStreamRequest = Pick<EgressRequest, 'method' | 'headers' | 'body'> & { signal: AbortSignal }

export type EgressResponse = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** After redirects. */
  readonly url: string
}

/** Status, headers and a streamed body. */
export type EgressStream = Pick<EgressResponse, 'status' | 'headers'> & { readonly body: AsyncIterable<Buffer> }

export type EgressTarget = { host: string; port: number }

/** SSRF guard: every outgoing connection to an address that a tenant gave goes through here. */
export type Egress = {
  fetch(url: string, request?: EgressRequest): Promise<EgressResponse>
  /** For streamed answers without a time-out: only `signal` ends them. Redirects are not followed. */
  stream(url: string, request: EgressStreamRequest): Promise<EgressStream>
  /**
   * For databases: the checked address of a host. Connect to it and not to the name, which may resolve differently the next
   * time.
   */
  resolve(target: EgressTarget): Promise<string>
  close(): Promise<void>
}

const connectTimeoutMs = 3_000
const fetchTimeoutMs = 10_000
const fetchMaxBytes = 10 * 1024 * 1024
const maxRedirects = 3

/** The headers that are kept on a redirect to another origin; any other may be a secret. */
const harmlessHeaders = ['accept', 'accept-language', 'content-type', 'range', 'user-agent']
/** Hop-by-hop headers, which a tenant may not set. */
const reservedHeaders =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|accept-encoding|proxy-.*)$/i

/** Without `own` there is nothing besides EGRESS_ALLOW to protect; `lookup` is for tests. */
export type EgressOptions = PolicyOptions & { denied?: DeniedServices; lookup?: Lookup }

export function createEgress(options: EgressOptions): Egress {
  const admit = createAdmission(options)
  let opened: Promise<{ agent: Agent; streams: Agent }> | undefined
  const agents = () => {
    opened ??= openAgents(admit)
    return opened
  }
  return {
    fetch: async (url, request = {}) => fetchGuarded((await agents()).agent, url, request),
    stream: async (url, request) => streamGuarded((await agents()).streams, url, request),
    resolve: (target) => resolveGuarded(admit, target),
    async close() {
      const { agent, streams } = (await opened) ?? {}
      await Promise.all([agent?.close(), streams?.close()])
    },
  }
}

/** The HTTP client takes 8 MB of heap, so it is loaded with the first request. */
async function openAgents(admit: Admit): Promise<{ agent: Agent; streams: Agent }> {
  const undici = await import('undici')
  const common = { connect: guardedConnector(admit, undici.buildConnector), maxHeaderSize: 16_384 }
  return {
    agent: new undici.Agent({ ...common, connections: 16 }),
    streams: new undici.Agent({ ...common, headersTimeout: 0, bodyTimeout: 0 }),
  }
}

/** The checked addresses, at least one, and the check of the address that the socket connected to. */
type Admitted = { readonly addresses: Resolved[]; allows(address: string | undefined): boolean }
type Admit = (target: EgressTarget & { isHttp: boolean }) => Promise<Admitted>

function createAdmission({ denied, lookup = lookUpAll, ...rules }: EgressOptions): Admit {
  const policy = createPolicy(rules)
  const findDenied = createDeniedAddresses(denied ?? { database: [], services: () => [] }, lookup)
  return async ({ host, port, isHttp }) => {
    const family = isIP(host)
    const [resolved, deniedAt] = await Promise.all([
      family === 0 ? lookup(host) : [{ address: host, family }],
      findDenied(),
    ])
    const allows = (address: string | undefined): boolean =>
      address !== undefined && policy.allows({ address, host, port, isHttp, denied: deniedAt(address, port) })
    const addresses = resolved.filter(({ address }) => allows(address))
    if (addresses.length === 0) throw refusedAddress()
    return { addresses, allows }
  }
}

const lookUpAll: Lookup = (host) => systemLookup(host, { all: true })

/**
 * Three checks, because each alone has a gap: Node looks up no literals, a name may resolve to anything and to something
 * else the next time, and only the connected socket knows where it ended.
 */
function guardedConnector(admit: Admit, build: typeof buildConnector): buildConnector.connector {
  return (options, callback) => {
    const host = options.hostname.replace(/^\[(.*)\]$/, '$1')
    const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80)
    admit({ host, port, isHttp: true }).then(
      ({ addresses, allows }) => {
        const pinned = pinnedLookup(addresses)
        const connect = build({ lookup: pinned, timeout: connectTimeoutMs, allowH2: false })
        connect(options, (error, socket) => {
          if (error) return callback(error, null)
          if (allows(socket.remoteAddress)) return callback(null, socket)
          socket.destroy()
          callback(refusedAddress(), null)
        })
      },
      (error: Error) => callback(error, null),
    )
  }
}

/** DNS pinning: the address that was checked is the one that is connected to. */
function pinnedLookup(addresses: Resolved[]): LookupFunction {
  return (_host, options, callback) => {
    if (options.all) callback(null, addresses)
    else callback(null, addresses[0]?.address ?? '', addresses[0]?.family)
  }
}

async function fetchGuarded(agent: Agent, first: string, request: EgressRequest) {
  const { timeoutMs = fetchTimeoutMs, maxBytes = fetchMaxBytes } = request
  const timeout = AbortSignal.timeout(timeoutMs)
  const signal = request.signal ? AbortSignal.any([request.signal, timeout]) : timeout
  let url = checkedUrl(first)
  let step: Step = { method: request.method ?? 'GET', headers: checkedHeaders(request.headers), body: request.body }
  try {
    for (let redirects = 0; ; redirects++) {
      const response = await send(agent, url, step, signal)
      const target = request.followsRedirects === false ? null : redirectTarget(response, url)
      if (!target) return await readResponse(response, url, maxBytes, request)
      await response.body.dump()
      if (redirects === maxRedirects) throw unreachable(new Error('too many redirects'))
      const next = checkedUrl(target.href)
      if (url.protocol === 'https:' && next.protocol === 'http:') throw downgraded()
      step = redirected(step, response.statusCode, url.origin === next.origin)
      url = next
    }
  } catch (error) {
    throw publicError(error, request.signal)
  }
}

async function streamGuarded(agent: Agent, text: string, request: EgressStreamRequest) {
  const { method = 'GET', headers, body, signal } = request
  const url = checkedUrl(text)
  const step = { method, headers: checkedHeaders(headers), body }
  try {
    const response = await send(agent, url, step, signal)
    // Readers get the error from the iterator; without this listener an unread body would crash the process.
    response.body.on('error', () => {})
    await refuseEncoded(response)
    return { status: response.statusCode, headers: headersOf(response), body: response.body }
  } catch (error) {
    throw publicError(error, signal)
  }
}

type Step = { method: string; headers: Record<string, string>; body: string | Uint8Array | undefined }

function send(agent: Agent, url: URL, { method, headers, body }: Step, signal: AbortSignal) {
  return agent.request({
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method,
    headers: { 'user-agent': 'graticule', ...headers, 'accept-encoding': 'identity' },
    body: body ?? null,
    signal,
  })
}

function checkedUrl(text: string): URL {
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ApiError('invalid_request', 'The address must begin with http:// or https://.')
  }
  if (url.username !== '' || url.password !== '') {
    throw new ApiError('invalid_request', 'The address must not hold a user or password: send them in a header.')
  }
  return url
}

function checkedHeaders(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  const checked: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (reservedHeaders.test(name)) {
      throw new ApiError('invalid_request', `The header ${name} must not be set: the connection decides it.`)
    }
    try {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    } catch {
      throw new ApiError('invalid_request', `The header "${name.slice(0, 60)}" is not valid in HTTP.`)
    }
    checked[name.toLowerCase()] = value
  }
  return checked
}

function redirectTarget({ statusCode, headers }: Dispatcher.ResponseData, url: URL): URL | null {
  if (![301, 302, 303, 307, 308].includes(statusCode) || typeof headers.location !== 'string') return null
  return URL.parse(headers.location, url.href)
}

/** What browsers do: all but 307 and 308 turn a POST into a GET. */
function redirected({ method, headers, body }: Step, status: number, isSameOrigin: boolean): Step {
  const becomesGet = status < 307 && method !== 'GET' && method !== 'HEAD'
  const kept = Object.entries(headers).filter(([name]) => isSameOrigin || harmlessHeaders.includes(name))
  return {
    method: becomesGet ? 'GET' : method,
    headers: Object.fromEntries(kept.filter(([name]) => !becomesGet || name !== 'content-type')),
    body: becomesGet ? undefined : body,
  }
}

async function refuseEncoded({ headers, body }: Dispatcher.ResponseData): Promise<void> {
  if ((headers['content-encoding'] ?? 'identity') === 'identity') return
  await body.dump()
  throw unreachable(new Error('compressed although asked not to be'))
}

function headersOf({ headers }: Dispatcher.ResponseData): Record<string, string> {
  const texts = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value])
  return Object.fromEntries(texts)
}

async function readResponse(
  response: Dispatcher.ResponseData,
  url: URL,
  maxBytes: number,
  { isEncodedWelcome = false, isCutWelcome = false }: EgressRequest,
) {
  const collected = new ChunkCollector()
  let bytes = 0
  if (!isEncodedWelcome) await refuseEncoded(response)
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    bytes += chunk.length
    // Leaving the loop destroys the body and with it the connection.
    if (bytes > maxBytes && isCutWelcome) {
      collected.add(chunk.subarray(0, maxBytes - bytes))
      break
    }
    if (bytes > maxBytes)
      throw new ApiError('upstream_failed', `The answer is larger than ${maxBytes} bytes, the limit.`)
    collected.add(chunk)
  }
  return { status: response.statusCode, headers: headersOf(response), body: collected.toBuffer(), url: url.href }
}

async function resolveGuarded(admit: Admit, { host, port }: EgressTarget): Promise<string> {
  // Refuses what a database client would take for a socket file, a list of hosts or a connection string.
  const isName = /^[\da-z_](?:[\w.-]{0,251}[\w.])?$/i.test(host)
  if (!isName && isIP(host) === 0) {
    throw new ApiError('invalid_request', 'The host must be a host name or an IP address.')
  }
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new ApiError('invalid_request', 'The port must be from 1 to 65535.')
  }
  try {
    const { addresses } = await admit({ host, port, isHttp: false })
    const [first] = addresses
    return first?.address ?? ''
  } catch (error) {
    throw publicError(error, undefined)
  }
}

/** The caller's own abort reason, else one text for all failures, which reveals nothing about the network. */
function publicError(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason
  return error instanceof ApiError ? error : unreachable(error)
}
