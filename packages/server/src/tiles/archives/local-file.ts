// Looks up a tenant's files without following links out of its directory.
import { realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { ApiError } from '../../errors.ts'

/** `version` changes when the file is written or replaced. */
export type LocalFile = { readonly path: string; readonly version: string }

/** A file of the tenant. A symbolic link out of its directory counts as missing. */
export async function findLocalFile(directory: string, name: string): Promise<LocalFile> {
  try {
    const root = await realpath(directory)
    const path = await realpath(join(root, name))
    if (!path.startsWith(root.endsWith(sep) ? root : root + sep)) throw missing()
    const { size, mtimeNs, ino, isFile } = await statFile(path)
    if (!isFile) throw missing()
    return { path, version: `${ino.toString(36)}-${size.toString(36)}-${mtimeNs.toString(36)}` }
  } catch (cause) {
    throw cause instanceof ApiError ? cause : missing(cause)
  }
}

async function statFile(path: string) {
  const found = await stat(path, { bigint: true })
  return { size: found.size, mtimeNs: found.mtimeNs, ino: found.ino, isFile: found.isFile() }
}

/** Whether the file has been replaced or removed. */
export async function isReplaced(directory: string, name: string, before: LocalFile): Promise<boolean> {
  const now = await findLocalFile(directory, name).catch(() => undefined)
  return now?.path !== before.path || now.version !== before.version
}

const missing = (cause?: unknown) =>
  new ApiError('not_found', 'The file of the tile archive does not exist.', { cause })
