// Files in a bucket of S3-compatible storage, which all replicas share without a common disk.
import { randomUUID } from 'node:crypto'
import { access, mkdir, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createAdmission } from '../../concurrency/admission.ts'
import type { FileStore, ListedFile } from '../file-store.ts'
import { fileMissing } from '../local-file.ts'
import { isStorageUnavailable } from '../storage-unavailable.ts'
import { createLocalCopies } from './local-copies.ts'
import {
  abortUploads,
  deleteObject,
  downloadObject,
  headObject,
  listObjects,
  probeBucket,
  readObject,
  type StoredObject,
} from './s3-objects.ts'
import { createS3Ranges, explained } from './s3-ranges.ts'
import { createS3Requests, type S3Requests, type S3Settings } from './s3-requests.ts'
import { uploadFile } from './s3-upload.ts'
import { createStaleCheck } from './stale-check.ts'

export type S3StoreSettings = S3Settings & {
  /** Local copies of files that can be read only as a whole. */
  readonly cache: { readonly directory: string; readonly maxBytes: number }
  /** A multipart upload that was begun so long ago is abandoned. */
  readonly abandonedMs?: number
}

export type S3Store = FileStore & {
  /** Throws unless the bucket can be listed. */
  probe(): Promise<void>
  /** As `list`, however many parts the keys have. */
  listAll(prefix: string): AsyncIterable<ListedFile>
}

/** Each holds two parts of 8 MiB in memory. */
const uploadsAtOnce = 4
const deletionsAtOnce = 8
/** `kind/owner/name` */
const keyParts = 3
const dayMs = 24 * 60 * 60_000

export function createS3Store(settings: S3StoreSettings): S3Store {
  const requests = createS3Requests(settings)
  const copies = createLocalCopies(settings.cache.directory, settings.cache.maxBytes)
  const uploads = createAdmission({ total: uploadsAtOnce })
  const objectOf = (key: string): string => settings.prefix + key
  const stat = (key: string): Promise<StoredObject | undefined> => headObject(requests, objectOf(key))

  async function find(key: string): Promise<StoredObject> {
    const object = await stat(key)
    if (!object) throw fileMissing()
    return object
  }

  /** A file appears at `path` only when it is whole. */
  async function download(key: string, object: StoredObject, path: string, signal?: AbortSignal): Promise<void> {
    const temporary = `${path}.${randomUUID()}`
    try {
      await downloadObject(requests, objectOf(key), object, temporary, signal)
      await rename(temporary, path)
    } catch (error) {
      throw explained(error)
    } finally {
      await rm(temporary, { force: true })
    }
  }

  /** While the storage does not answer, what is known is taken as unchanged. */
  async function isChanged(key: string, version: string): Promise<boolean> {
    const now = await stat(key).catch((error) => {
      if (isStorageUnavailable(error)) return { version }
      throw error
    })
    return now?.version !== version
  }

  return {
    stat,
    ...listings(requests, settings.prefix),
    probe: () => probeBucket(requests, settings.prefix),
    async put(key, path) {
      const release = await uploads.admit('')
      try {
        await uploadFile(requests, objectOf(key), path)
      } catch (error) {
        throw explained(error)
      } finally {
        release()
      }
    },
    async fetch(key, path, signal) {
      if (await isThere(path)) return
      const object = await find(key)
      await mkdir(dirname(path), { recursive: true })
      await download(key, object, path, signal)
    },
    async read(key) {
      const { size, etag } = await find(key)
      if (size === 0) return Buffer.alloc(0)
      return readObject(requests, objectOf(key), { offset: 0, length: size }, etag).then(
        ({ bytes }) => bytes,
        (error) => Promise.reject(explained(error)),
      )
    },
    open: async (key) => createS3Ranges(requests, objectOf(key), (version) => isChanged(key, version)),
    async localFile(key) {
      const object = await find(key)
      const path = await copies.get({ key, ...object }, (to, signal) => download(key, object, to, signal))
      const isStale = createStaleCheck(() => isChanged(key, object.version))
      return { path, version: object.version, isReplaced: async () => !(await copies.touch(path)) || isStale() }
    },
    remove: (key) => (key.endsWith('/') ? removeAll(requests, objectOf(key)) : deleteObject(requests, objectOf(key))),
    async tidy() {
      await copies.sweep()
      await abortUploads(requests, settings.prefix, Date.now() - (settings.abandonedMs ?? dayMs))
    },
    close: async () => requests.client.destroy(),
  }
}

const listings = (requests: S3Requests, base: string): Pick<S3Store, 'list' | 'listAll'> => ({
  list: (prefix) => listFiles(requests, base, prefix, (key) => key.split('/').length === keyParts),
  listAll: (prefix) => listFiles(requests, base, prefix, () => true),
})

async function* listFiles(
  requests: S3Requests,
  base: string,
  prefix: string,
  isMeant: (key: string) => boolean,
): AsyncGenerator<ListedFile> {
  for await (const file of listObjects(requests, base + prefix)) {
    const key = file.key.slice(base.length)
    if (isMeant(key)) yield { ...file, key }
  }
}

async function removeAll(requests: S3Requests, prefix: string): Promise<void> {
  const objects = listObjects(requests, prefix)
  async function work(): Promise<void> {
    for (let next = await objects.next(); !next.done; next = await objects.next())
      await deleteObject(requests, next.value.key)
  }
  await Promise.all(Array.from({ length: deletionsAtOnce }, work))
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
