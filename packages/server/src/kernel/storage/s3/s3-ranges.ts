// Byte ranges of an object. All are of the version that was read first, until it is found replaced.

import type { ByteSource } from '../file-store.ts'
import { fileMissing } from '../local-file.ts'
import { storageUnavailable } from '../storage-unavailable.ts'
import { readObject } from './s3-objects.ts'
import { ObjectFault, type S3Requests } from './s3-requests.ts'
import { createStaleCheck } from './stale-check.ts'

/** `isChanged` asks the storage whether the object has another version. */
export function createS3Ranges(
  requests: S3Requests,
  object: string,
  isChanged: (version: string) => Promise<boolean>,
): ByteSource {
  let pinned: { readonly etag: string; readonly version: string } | undefined

  async function read(offset: number, length: number, signal: AbortSignal | undefined, etag?: string) {
    const part = await readObject(requests, object, { offset, length }, etag, signal)
    pinned = { etag: part.etag, version: part.version }
    return { bytes: part.bytes, version: part.version }
  }

  return {
    // Replaced objects are found by `isStale`, and by the condition of each read.
    trustMs: Number.POSITIVE_INFINITY,
    async read(offset, length, signal) {
      try {
        return await read(offset, length, signal, pinned?.etag).catch((error) => {
          if (pinned && isFault(error, 412)) return read(offset, length, signal)
          throw error
        })
      } catch (error) {
        // Beyond the end: the object has become shorter, which the changed version reports.
        if (isFault(error, 416)) return { bytes: Buffer.alloc(0), version: '' }
        throw explained(error)
      }
    },
    isStale: createStaleCheck(async () => pinned !== undefined && isChanged(pinned.version)),
    close: async () => {},
  }
}

const isFault = (error: unknown, status: number): boolean => error instanceof ObjectFault && error.status === status

/** What a caller is told of a fault of an object. */
export function explained(error: unknown): unknown {
  if (!(error instanceof ObjectFault)) return error
  return error.status === 404 ? fileMissing(error.cause) : storageUnavailable(error.cause)
}
