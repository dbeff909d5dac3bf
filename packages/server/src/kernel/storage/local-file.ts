// Looks up files of a directory without following links out of it.
import { realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { ApiError } from '../errors.ts'
import type { FileFacts } from './file-store.ts'

export type DirectoryFile = FileFacts & { readonly path: string }

/** A symbolic link out of the directory counts as missing. */
export async function findLocalFile(directory: string, name: string): Promise<DirectoryFile> {
  try {
    const root = await realpath(directory)
    const path = await realpath(join(root, name))
    if (!path.startsWith(root.endsWith(sep) ? root : root + sep)) throw fileMissing()
    const stats = await stat(path, { bigint: true })
    if (!stats.isFile()) throw fileMissing()
    const { size, mtimeNs, ino } = stats
    const version = `${ino.toString(36)}-${size.toString(36)}-${mtimeNs.toString(36)}`
    return { path, version, size: Number(size), modifiedAt: Number(mtimeNs / 1_000_000n) }
  } catch (cause) {
    throw cause instanceof ApiError ? cause : fileMissing(cause)
  }
}

/** Whether the file has been replaced or removed. */
export async function isReplaced(directory: string, name: string, before: DirectoryFile): Promise<boolean> {
  const now = await findLocalFile(directory, name).catch(() => undefined)
  return now?.path !== before.path || now.version !== before.version
}

export const fileMissing = (cause?: unknown) =>
  new ApiError('not_found', 'The file of the tile archive does not exist.', { cause })
