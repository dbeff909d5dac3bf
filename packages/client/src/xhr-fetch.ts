// fetch implemented with XMLHttpRequest, because browsers report upload progress only there.
import type { Fetch } from './request.ts'
import type { OnProgress } from './upload-body.ts'

/** The part of XMLHttpRequest that is used here, because the package is compiled without the DOM types. */
interface Xhr {
  open(method: string, url: string): void
  setRequestHeader(name: string, value: string): void
  send(body: unknown): void
  abort(): void
  getAllResponseHeaders(): string
  responseType: string
  readonly status: number
  readonly statusText: string
  readonly response: ArrayBuffer
  readonly upload: { onprogress: ((event: { loaded: number }) => void) | null }
  onload: (() => void) | null
  onerror: (() => void) | null
  onabort: (() => void) | null
}

/** Undefined where there is no XMLHttpRequest, as in Node. */
export function xhrFetch(size: number, onProgress: OnProgress): Fetch | undefined {
  const { XMLHttpRequest } = globalThis as { XMLHttpRequest?: new () => Xhr }
  if (!XMLHttpRequest) return undefined
  return (url, { method = 'GET', headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const xhr = new XMLHttpRequest()
      xhr.open(method, url)
      xhr.responseType = 'arraybuffer'
      for (const [name, value] of Object.entries(headers as Record<string, string>)) xhr.setRequestHeader(name, value)
      // `loaded` includes the multipart boundaries around the file.
      xhr.upload.onprogress = ({ loaded }) => onProgress({ loaded: Math.min(loaded, size), total: size })
      xhr.onload = () => resolve(responseOf(xhr))
      xhr.onerror = () => reject(new TypeError('The request failed'))
      xhr.onabort = () => reject(signal?.reason)
      signal?.addEventListener('abort', () => xhr.abort(), { once: true })
      xhr.send(body)
    })
}

function responseOf(xhr: Xhr): Response {
  const { status, statusText, response } = xhr
  const lines = xhr.getAllResponseHeaders().trim().split(/\r?\n/)
  const headers = lines.map((line): [string, string] => {
    const [name = '', value = ''] = line.split(/: ?(.*)/s)
    return [name, value]
  })
  return new Response(response, { status, statusText, headers })
}
