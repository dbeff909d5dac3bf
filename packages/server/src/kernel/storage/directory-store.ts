// Files in a directory: DATA_DIR, on a disk of this machine or on storage that all replicas mount.
import { randomUUID } from 'node:crypto'
import { link, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isNotFound } from '../errors.ts'
import type { FileStore, ListedFile } from './file-store.ts'
import { findLocalFile, isReplaced } from './local-file.ts'
import { openLocalRanges } from './local-ranges.ts'

export function createDirectoryStore(root: string): FileStore {
  const pathOf = (key: string): string => join(root, key)
  /** The folder that links must not lead out of: that of the key's owner, or the whole directory. */
  function placeOf(key: string): [directory: string, name: string] {
    const parts = key.split('/')
    const owned = parts.length > 2 ? 2 : 0
    return [join(root, ...parts.slice(0, owned)), parts.slice(owned).join('/')]
  }
  return {
    put: (key, path) => linkTo(path, pathOf(key)),
    fetch: (key, path) => linkTo(pathOf(key), path),
    read: (key) => readFile(pathOf(key)),
    async stat(key) {
      return findLocalFile(...placeOf(key)).catch((error) => {
        if (!isNotFound(error)) throw error
        return undefined
      })
    },
    open: (key) => openLocalRanges(...placeOf(key)),
    async localFile(key) {
      const [directory, name] = placeOf(key)
      const file = await findLocalFile(directory, name)
      return { ...file, isReplaced: () => isReplaced(directory, name, file) }
    },
    list: (prefix) => listFiles(root, prefix),
    remove: (key) => rm(pathOf(key), { recursive: true, force: true }),
    tidy: async () => {},
    close: async () => {},
  }
}

/** A hard link costs nothing, whatever the size; where a file waits at its place already there is nothing to do. */
async function linkTo(from: string, to: string): Promise<void> {
  if (from === to) return
  const temporary = `${to}.${randomUUID()}`
  await mkdir(dirname(to), { recursive: true })
  try {
    await link(from, temporary)
    await rename(temporary, to)
  } finally {
    // A rename between two links of one file leaves both.
    await rm(temporary, { force: true })
  }
}

async function* listFiles(root: string, prefix: string): AsyncGenerator<ListedFile> {
  const [kind = '', owner = ''] = prefix.split('/')
  const owners = owner === '' ? await namesIn(join(root, kind)) : [owner]
  for (const one of owners) {
    const folder = `${kind}/${one}`
    const files = (await namesIn(join(root, folder))).map((name) => factsOf(root, `${folder}/${name}`))
    for (const file of await Promise.all(files)) if (file) yield file
  }
}

async function factsOf(root: string, key: string): Promise<ListedFile | undefined> {
  const stats = await stat(join(root, key)).catch(undefinedIfAbsent)
  return stats?.isFile() ? { key, size: stats.size, modifiedAt: Math.trunc(stats.mtimeMs) } : undefined
}

/** A missing directory counts as empty. */
async function namesIn(directory: string): Promise<string[]> {
  return ((await readdir(directory).catch(undefinedIfAbsent)) ?? []).sort()
}

function undefinedIfAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
}
