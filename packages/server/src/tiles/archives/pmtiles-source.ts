// Byte ranges of a PMTiles archive, from a file or by HTTP range requests.
import { read, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { ApiError } from '../../errors.ts'
import { digestOf, type Fetch, fetchTimeoutMs } from './archive.ts'
import { findLocalFile, isReplaced } from './local-file.ts'
import { createRecentRanges } from './recent-ranges.ts'
import { broken } from './tile-content.ts'

/** Reads bytes, fewer at the end of the file; `version` is that of the archive they come from. */
export type ByteSource = {
  read(offset: number, length: number, signal?: AbortSignal): Promise<{ bytes: Buffer; version: string }>
  /** Bytes that the page cache has, and their digest. Absent for what is not a local file. */
  readNow?(offset: number, length: number): { bytes: Buffer; digest: string } | undefined
  /** How long the header is considered unchanged; for ever for a file, because an open file does not change. */
  readonly trustMs: number
  isStale(): Promise<boolean>
  close(): Promise<void>
}

export async function openFileSource(directory: string, name: string): Promise<ByteSource> {
  const found = await findLocalFile(directory, name)
  const file = await open(found.path)
  const recent = createRecentRanges()
  return {
    trustMs: Number.POSITIVE_INFINITY,
    async read(offset, length) {
      const bytes = await readAt(file.fd, offset, length)
      recent.note(offset)
      return { bytes, version: found.version }
    },
    readNow(offset, length) {
      if (!recent.has(offset)) return undefined
      const bytes = readAtOnce(file.fd, offset, length, recent.forget)
      return bytes && { bytes, digest: recent.digest(offset, () => digestOf(bytes)) }
    },
    isStale: () => isReplaced(directory, name, found),
    close: () => file.close(),
  }
}

/** By the file descriptor, because a read by `FileHandle` takes half as long again. */
function readAt(fd: number, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length)
  return new Promise((resolve, reject) => {
    read(fd, bytes, 0, length, offset, (error, bytesRead) =>
      error ? reject(error) : resolve(bytesRead === length ? bytes : bytes.subarray(0, bytesRead)),
    )
  })
}

/** From memory a range takes some microseconds. */
const slowReadMs = 2

function readAtOnce(fd: number, offset: number, length: number, onSlow: () => void): Buffer | undefined {
  const begun = performance.now()
  const bytes = Buffer.allocUnsafeSlow(length)
  const count = readSync(fd, bytes, 0, length, offset)
  if (performance.now() - begun > slowReadMs) onSlow()
  return count === length ? bytes : undefined
}

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
