// The files of an installation that keeps them in a bucket of S3-compatible storage.
import { randomUUID } from 'node:crypto'
import { mkdir, open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../../kernel/errors.ts'
import type { S3Store } from '../../kernel/storage/s3/s3-store.ts'
import { type DataFiles, demandFilePath, fileRoots, isFilePath, listedRoots } from './data-files.ts'

/** `scratch` is a local directory for one file at a time. */
export function openBucketFiles(store: S3Store, scratch: string): DataFiles {
  async function* below(roots: readonly string[]) {
    for (const root of roots) yield* store.listAll(`${root}/`)
  }
  /** A local path while `work` goes on. */
  async function withLocalPath<T>(work: (path: string) => Promise<T>): Promise<T> {
    await mkdir(scratch, { recursive: true, mode: 0o700 })
    const path = join(scratch, `backup-${randomUUID()}`)
    return work(path).finally(() => rm(path, { force: true }))
  }
  return {
    async *list(leaveOut) {
      for await (const { key, size } of below(listedRoots)) {
        if (isFilePath(key)) yield { path: key, bytes: size }
        else leaveOut(key)
      }
    },
    async read(path) {
      return (await store.stat(path)) && contentOf(store, path, withLocalPath)
    },
    async write(path, content) {
      demandFilePath(path)
      await withLocalPath(async (local) => {
        await writeFile(local, content, { flag: 'wx', mode: 0o600 })
        await store.put(path, local)
      })
    },
    async prepare(isRepeated) {
      if (isRepeated) for (const root of fileRoots) await store.remove(`${root}/`)
      for await (const { key } of below(fileRoots)) {
        throw new StartError(
          `The bucket has a file ${key}, and restore replaces nothing. Name an empty one in S3_BUCKET, or another S3_PREFIX.`,
        )
      }
    },
  }
}

/** Fetched when it is read: what is listed may be gone by then. */
async function* contentOf(
  store: S3Store,
  key: string,
  withLocalPath: <T>(work: (path: string) => Promise<T>) => Promise<T>,
): AsyncGenerator<Uint8Array, void, undefined> {
  // An open file stays readable when its name is gone.
  const file = await withLocalPath(async (path) => {
    await store.fetch(key, path)
    return open(path)
  })
  yield* file.createReadStream()
}
