// Byte ranges of a local file.
import { hash } from 'node:crypto'
import { read, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { ByteSource } from './file-store.ts'
import { findLocalFile, isReplaced } from './local-file.ts'
import { createRecentRanges } from './recent-ranges.ts'

/** A digest of bytes as they are stored, for an ETag. */
export const digestOf = (bytes: Buffer): string => hash('sha1', bytes, 'base64url').slice(0, 16)

export async function openLocalRanges(directory: string, name: string): Promise<ByteSource> {
  const local = await findLocalFile(directory, name)
  const file = await open(local.path)
  const recent = createRecentRanges()
  return {
    // An open file does not change.
    trustMs: Number.POSITIVE_INFINITY,
    async read(offset, length) {
      const bytes = await readAt(file.fd, offset, length)
      recent.note(offset)
      return { bytes, version: local.version }
    },
    readNow(offset, length) {
      if (!recent.has(offset)) return undefined
      const bytes = readAtOnce(file.fd, offset, length, recent.forget)
      return bytes && { bytes, digest: recent.digest(offset, () => digestOf(bytes)) }
    },
    isStale: () => isReplaced(directory, name, local),
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
