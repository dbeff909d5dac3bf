// The transport that the groups use: JSON, text, bytes and streams over `request`.
import { ApiError } from './api-error.ts'
import { type Call, type Path, type RequestParams, request, type Transport } from './request.ts'

type Options = Omit<Call, 'method' | 'path' | 'params'>

/** Sends a request and parses the JSON response; undefined if it has no body. */
export type Send = <T>(method: string, path: Path, params?: RequestParams & object, options?: Options) => Promise<T>

export interface Sender {
  readonly json: Send
  readonly text: Send
  /** The bytes, or null if the response is empty. */
  bytes(path: Path, params?: RequestParams & object): Promise<ArrayBuffer | null>
  /** The response as a file, with its content type. */
  blob(method: string, path: Path, params?: RequestParams & object, options?: Options): Promise<Blob>
  /** Yields the text as it arrives. Leaving the loop ends the request. */
  stream(method: string, path: Path, params?: RequestParams & object, options?: Options): AsyncGenerator<string, void>
}

export function createSender(transport: Transport): Sender {
  return {
    json: (method, path, params, options) =>
      request(transport, { ...options, method, path, params }, async (response, exchange) => {
        const text = await response.text()
        exchange.end()
        return parse(text, response)
      }),
    text: (method, path, params, options) =>
      request(transport, { accept: '*/*', ...options, method, path, params }, async (response, exchange) => {
        const text = await response.text()
        exchange.end()
        return text as never
      }),
    bytes: (path, params) =>
      request(transport, { method: 'GET', path, params, accept: '*/*' }, async (response, exchange) => {
        const bytes = await response.arrayBuffer()
        exchange.end()
        return response.status === 204 ? null : bytes
      }),
    blob: (method, path, params, options) =>
      request(transport, { accept: '*/*', ...options, method, path, params }, async (response, exchange) => {
        const blob = await response.blob()
        exchange.end()
        return blob
      }),
    stream: (method, path, params, options) => streamText(transport, { ...options, method, path, params }),
  }
}

function parse<T>(text: string, { status, headers }: Response): T {
  try {
    return (text === '' ? undefined : JSON.parse(text)) as T
  } catch (cause) {
    const requestId = headers.get('x-request-id')
    throw new ApiError({ status, code: 'invalid_answer', message: 'The answer is not JSON.', requestId, cause })
  }
}

async function* streamText(transport: Transport, call: Call): AsyncGenerator<string, void> {
  const { exchange, body } = await request(transport, call, async (response, exchange) => {
    exchange.untime()
    return { exchange, body: response.body }
  })
  const decoder = new TextDecoder()
  const reader = body?.getReader()
  try {
    for (;;) {
      const { done = true, value } = (await reader?.read()) ?? {}
      if (done) break
      yield decoder.decode(value as Uint8Array, { stream: true })
    }
  } catch (thrown) {
    throw exchange.failure(thrown)
  } finally {
    exchange.end()
  }
}
