// The interface of file storage: uploads that wait, archives of tiles, fonts. Its implementations are a directory and a
// bucket of S3-compatible storage.
import { isStorageUnavailable } from './storage-unavailable.ts'

/** Says what is stored under a key. `version` changes when the file is replaced. */
export type FileFacts = { readonly size: number; readonly version: string; readonly modifiedAt: number }

/** A stored file that a listing names. */
export type ListedFile = { readonly key: string; readonly size: number; readonly modifiedAt: number }

/** An open file that is read in ranges. */
export type ByteSource = {
  /** Reads bytes, fewer at the end of the file; `version` is that of the file they come from. */
  read(offset: number, length: number, signal?: AbortSignal): Promise<{ bytes: Buffer; version: string }>
  /** Bytes that the page cache has, and their digest. Absent for what is not a local file. */
  readNow?(offset: number, length: number): { bytes: Buffer; digest: string } | undefined
  /** How long the header is considered unchanged; for ever where `isStale` reports a replaced file. */
  readonly trustMs: number
  isStale(): Promise<boolean>
  close(): Promise<void>
}

/** A whole file on this machine, for readers that need a path. */
export type LocalFile = {
  readonly path: string
  readonly version: string
  /** Whether the stored file has been replaced or removed. */
  isReplaced(): Promise<boolean>
}

/**
 * Files by key. A key is `kind/owner/name`: `uploads/<upload>/source`, `files/<application>/<name>` or
 * `fonts/<font>/<range>.pbf`, so a directory can be copied into a bucket as it is. A name may have further folders in it.
 * Where the storage does not answer, every method throws `storage_unavailable`.
 */
export type FileStore = {
  /** Stores a local file, which stays. It is durable when the promise resolves; readers see all of it or nothing. */
  put(key: string, path: string): Promise<void>
  /** Makes a stored file available at a local path, unless there is a file already. */
  fetch(key: string, path: string, signal?: AbortSignal): Promise<void>
  /** All bytes of a small file. */
  read(key: string): Promise<Buffer>
  /** Undefined if there is no such file. */
  stat(key: string): Promise<FileFacts | undefined>
  open(key: string): Promise<ByteSource>
  localFile(key: string): Promise<LocalFile>
  /** The files whose keys have three parts and begin with `kind/` or `kind/owner/`, in the order of their keys. */
  list(prefix: string): AsyncIterable<ListedFile>
  /** Removes the file, or, if the key ends with a slash, everything below it. What does not exist is no error. */
  remove(key: string): Promise<void>
  /** Removes what interrupted calls of `put` have left. */
  tidy(): Promise<void>
  close(): Promise<void>
}

/** The files of one folder, by their names. */
export type Folder = {
  stat(name: string): Promise<FileFacts | undefined>
  open(name: string): Promise<ByteSource>
  localFile(name: string): Promise<LocalFile>
}

export const folderOf = (store: Pick<FileStore, keyof Folder>, prefix: string): Folder => ({
  stat: (name) => store.stat(prefix + name),
  open: (name) => store.open(prefix + name),
  localFile: (name) => store.localFile(prefix + name),
})

/** For what no record names any more: a file that cannot be removed now is found by the janitor later. */
export async function removeNowOrLater(store: Pick<FileStore, 'remove'>, key: string): Promise<void> {
  await store.remove(key).catch((error) => {
    if (!isStorageUnavailable(error)) throw error
  })
}

/** Where the file of an upload waits until it is read. */
export const uploadKey = (uploadId: string): string => `uploads/${uploadId}/source`

/** The prefix of an application's own files: archives of tiles. */
export const filesPrefix = (applicationId: string): string => `files/${applicationId}/`
