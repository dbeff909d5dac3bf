// Sends a file, whole or a range of it, with the conditions of RFC 9110.
import type { FastifyRequest } from 'fastify'
import { byteRangeOf } from '../../../api/http/answers/byte-range.ts'
import type { Answer } from '../../../api/http/operation.ts'
import { hasLeft } from '../../../api/http/request-signal.ts'
import { etagOf, isUnchanged } from '../../../api/resource/revision.ts'
import type { ExportFile } from './export-readers.ts'

export async function fileAnswer(
  { request, signal }: { readonly request: FastifyRequest; readonly signal: AbortSignal },
  file: ExportFile,
  own: Readonly<Record<string, string>>,
): Promise<Answer> {
  const { handle, size, tag } = file
  const etag = etagOf(tag)
  const headers = { ...own, etag, 'accept-ranges': 'bytes' }
  try {
    if (isUnchanged(request, tag)) {
      await handle.close()
      return { status: 304, headers }
    }
    const range = byteRangeOf(rangeHeader(request, etag), size)
    const { first, last } = range ?? { first: 0, last: size - 1 }
    const part = { ...headers, ...(range && { 'content-range': `bytes ${first}-${last}/${size}` }) }
    const length = { ...part, 'content-length': String(last - first + 1) }
    const status = range ? 206 : 200
    if (request.method === 'HEAD' || size === 0) {
      await handle.close()
      return { status, headers: length }
    }
    const body = handle.createReadStream({ start: first, end: last })
    signal.addEventListener('abort', () => body.destroy(hasLeft(signal.reason) ? undefined : signal.reason), {
      once: true,
    })
    // Fastify handles the error once it sends the body.
    body.on('error', () => {})
    return { status, headers: length, body }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Of GET only; and not if the reader has a part of another file (If-Range). */
function rangeHeader({ method, headers }: FastifyRequest, etag: string): string | undefined {
  if (method !== 'GET') return undefined
  const { range, 'if-range': condition } = headers
  return condition === undefined || condition === etag ? range : undefined
}
