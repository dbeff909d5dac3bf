import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'

export type Call = {
  readonly key?: string | null
  readonly body?: unknown
  /** The body as it is, with its type in `headers`. */
  readonly raw?: string | Buffer
  readonly headers?: Record<string, string>
  readonly agent?: Agent
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

export type Answer = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a fault looks into whatever was answered
  readonly body: any
  readonly ms: number
}

const usualTimeoutMs = 60_000

/** One request, by a connection of its own unless an agent is given. Rejects when there is no whole answer. */
export function call(url: string, method: string, path: string, options: Call = {}): Promise<Answer> {
  const { key, body, raw, agent = false, timeoutMs = usualTimeoutMs, signal } = options
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const headers = {
    ...(key && { 'x-api-key': key }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(payload !== undefined && { 'content-length': Buffer.byteLength(payload) }),
    ...options.headers,
  }
  const begun = performance.now()
  return new Promise((resolve, reject) => {
    const asked = request(url + path, { method, headers, agent, timeout: timeoutMs, ...(signal && { signal }) })
    asked.on('timeout', () => asked.destroy(new Error(`no answer within ${timeoutMs} ms: ${method} ${path}`)))
    asked.on('error', (error) => {
      if (asked.reusedSocket) error.message += ' (by an open connection)'
      reject(error)
    })
    asked.on('response', (response) => {
      readWhole(response).then((bytes) => {
        const text = bytes.toString()
        const isJson = /json/.test(String(response.headers['content-type'])) && text !== ''
        const { statusCode: status = 0, headers } = response
        resolve({ status, headers, text, body: isJson ? JSON.parse(text) : undefined, ms: performance.now() - begun })
      }, reject)
    })
    asked.end(payload)
  })
}

async function readWhole(response: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of response) pieces.push(piece)
  if (!response.complete) throw new Error('the answer was cut')
  return Buffer.concat(pieces)
}

const boundary = 'fault-boundary'

/** The form of an upload. */
export function uploadForm(fileName: string, content: string, fields: Record<string, string> = {}): Call {
  const part = (head: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`
  const parts = Object.entries(fields).map(([name, value]) => part(`name="${name}"`, value))
  const raw = `${parts.join('')}${part(`name="file"; filename="${fileName}"`, content)}--${boundary}--\r\n`
  return { raw, headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } }
}

/** A CSV file of points. */
export const pointsCsv = (rows: number, width = 40): string =>
  `n,text,lon,lat\n${Array.from({ length: rows }, (_, n) => `${n},${'x'.repeat(width)},${(n % 3400) / 10 - 170},${(n % 1400) / 10 - 70}`).join('\n')}\n`
