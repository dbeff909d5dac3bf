// Byte ranges of a PMTiles archive on the web, by HTTP range requests.
import { ApiError } from '../../../kernel/errors.ts'
import type { ByteSource } from '../../../kernel/storage/file-store.ts'
import { type Fetch, fetchTimeoutMs } from './archive.ts'
import { broken } from './tile-content.ts'

const webTrustMs = 60_000

export function createWebSource(url: string, fetch: Fetch): ByteSource {
  return {
    trustMs: webTrustMs,
    async read(offset, length, signal) {
      const headers = { range: `bytes=${offset}-${offset + length - 1}` }
      const limits = { timeoutMs: fetchTimeoutMs, maxBytes: length }
      const response = await fetch(url, { headers, ...limits, ...(signal ? { signal } : {}) }).catch(explained)
      // Beyond the end: the archive has become shorter, which the changed version reports.
      if (response.status === 416) return { bytes: Buffer.alloc(0), version: '' }
      if (response.status === 200) throw noRanges()
      if (response.status !== 206) throw broken(`answered with status ${response.status}`)
      const [, start, total = ''] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers['content-range'] ?? '') ?? []
      if (Number(start) !== offset) throw broken('answered with other bytes than were asked for')
      return { bytes: response.body, version: `${validatorOf(response.headers)} ${total}` }
    },
    isStale: async () => false,
    close: async () => {},
  }
}

/** A strong validator only: a weak ETag may differ between the machines of one service. */
function validatorOf({ etag, 'last-modified': modified }: Readonly<Record<string, string>>): string {
  return etag !== undefined && !etag.startsWith('W/') ? etag : (modified ?? '')
}

/** A server without range support sends the whole file, which the egress guard cuts off. */
function explained(error: unknown): never {
  if (!(error instanceof ApiError) || error.code !== 'upstream_failed') throw error
  throw new ApiError('upstream_failed', `${error.message.replace(/\.$/, '')}. ${rangesNeeded}`, { cause: error })
}

const rangesNeeded = 'The server of a tile archive must support range requests.'
const noRanges = () => new ApiError('upstream_failed', rangesNeeded)
